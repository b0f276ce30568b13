/** Requests to beckon. The browser adds the cookie; the key is from the page's storage. */

const keyName = "page-key";

/** A page that was opened with a code has its key in a meta element. Later loads have it in the storage of this origin. */
export function takeKey(): void {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="page-key"]');
  if (meta?.content) localStorage.setItem(keyName, meta.content);
  meta?.remove();
  // The code counts once, so the address would not work again.
  if (location.search !== "") history.replaceState(null, "", location.pathname + location.hash);
}

export interface ApiAnswer {
  /** 0 if beckon could not be reached. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export const pageHeaders = (): Record<string, string> => ({
  "x-beckon-page": localStorage.getItem(keyName) ?? "",
});

const timeoutMs = 10_000;

/** A GET, or a POST if there is a body. Never throws. */
export async function callApi(path: string, body?: object): Promise<ApiAnswer> {
  try {
    const response = await fetch(path, {
      headers: { ...pageHeaders(), ...(body ? { "content-type": "application/json" } : {}) },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : {} };
  } catch {
    return { status: 0, body: {} };
  }
}
