/** The page: what runs in the browser. It reads the API and shows it; it decides nothing. */
import { effect } from "@preact/signals";
import { render } from "preact";
import { Inbox } from "./cards.tsx";
import { stayConnected } from "./connection.ts";
import { Banner, Bar, FirstRun, followTitle, Help, Message, Notices, Tabs } from "./frame.tsx";
import { followAsks } from "./inbox.ts";
import { takeKey } from "./key.ts";
import { followKeys } from "./keys.ts";
import { followLooks } from "./looked.ts";
import { hasMachines } from "./machines.tsx";
import { DetailPanel, HistoryPanel, PastBar, PastInbox } from "./more-loader.tsx";
import { applyTheme } from "./navigation.ts";
import { followPast, isPast } from "./past.ts";
import { Ports } from "./ports.tsx";
import { followReports } from "./reports.ts";
import { RulesPanel } from "./rules-loader.tsx";
import { Sessions } from "./sessions.tsx";
import { SettingsPanel } from "./settings-loader.tsx";
import { connection, facts, openAsks, selectedId, sessions } from "./state.ts";
import { hasHistory } from "./story.ts";
import { TeamPanel } from "./team-loader.tsx";
import { TipBox } from "./tip.tsx";
import { Patterns, Today } from "./today.tsx";
import { followAddress, view } from "./view.ts";
import { Waited } from "./waited.tsx";

/** Nothing has ever happened, as far as is known. */
const isFirstRun = (): boolean =>
  connection.value === "live" &&
  sessions.value.size === 0 &&
  !hasMachines.value &&
  hasHistory.value === false;

function App() {
  if (connection.value === "connecting") return <Bar isFirstRun />;
  // Nothing is known: an empty list would say that there are no sessions.
  if (connection.value === "closed" && facts.value === null)
    return (
      <>
        <Bar isFirstRun />
        <Banner />
      </>
    );
  const isFirst = isFirstRun();
  return (
    <>
      <Patterns />
      <Bar isFirstRun={isFirst} />
      <Banner />
      {isPast() && view.value === "sessions" && <PastBar />}
      <main>
        {view.value === "settings" ? (
          <SettingsPanel />
        ) : isFirst ? (
          <FirstRun />
        ) : view.value === "history" ? (
          <HistoryPanel />
        ) : view.value === "team" ? (
          <TeamPanel />
        ) : view.value === "rules" ? (
          <div class="page">
            <h1 class="hid">beckon: rules</h1>
            <Inbox />
            <div class="rest">
              <RulesPanel />
            </div>
          </div>
        ) : (
          <>
            <Notices />
            <div class="page">
              <h1 class="hid">beckon: your sessions</h1>
              {isPast() ? <PastInbox /> : <Inbox />}
              <div class="rest">
                <Sessions />
                <Today />
                <Waited />
                <Ports />
              </div>
            </div>
          </>
        )}
      </main>
      <DetailPanel />
      <Help />
      <TipBox />
      <Message />
      {!isFirst && <Tabs />}
    </>
  );
}

takeKey();
applyTheme();
followAddress();
followLooks();
followAsks();
followReports();
followTitle();
followKeys();
followPast();
// The first ask is selected until the user selects another.
effect(() => {
  const [first] = openAsks.value;
  if (selectedId.peek() === null && first) selectedId.value = first.id;
});
render(<App />, document.body);
stayConnected();
