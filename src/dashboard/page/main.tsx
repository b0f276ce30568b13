/** The page: what runs in the browser. It reads the API and shows it; it decides nothing. */
import { signal } from "@preact/signals";
import { render } from "preact";
import type { SessionSnapshot } from "../../core/view/snapshot.ts";
import { callApi, takeKey } from "./api.ts";

const sessions = signal<readonly SessionSnapshot[]>([]);

function App() {
  return (
    <main>
      <h1>beckon</h1>
      <ul>
        {sessions.value.map((session) => (
          <li key={session.sessionId}>
            {session.group} {session.project}
          </li>
        ))}
      </ul>
    </main>
  );
}

takeKey();
render(<App />, document.body);
async function poll(): Promise<void> {
  const { status, body } = await callApi("/api/sessions");
  if (status === 200) sessions.value = body.sessions as readonly SessionSnapshot[];
  setTimeout(poll, 1_000);
}
poll();
