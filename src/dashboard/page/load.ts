/** Loads what the API says. */
import { callApi } from "./api.ts";

/** null if beckon cannot be reached, or refuses. */
export async function load<Body>(path: string): Promise<Body | null> {
  const { status, body } = await callApi(path);
  return status === 200 ? (body as unknown as Body) : null;
}
