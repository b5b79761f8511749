/** Creates one record of each kind for tests that need them. */
import type { Answer, Client } from "../support/client.ts";

/** In seconds; nothing is due while a test runs. */
export const farAhead = 4_102_444_800;

let names = 0;

export function freshName(): string {
  names++;
  return `n${names}`;
}

/** The id of a record in the response that created it. @throws Error if it was not created */
export async function made(answer: Promise<Answer>, ...path: readonly string[]): Promise<number> {
  const { status, body } = await answer;
  const found = path.reduce((value, step) => value?.[step], body);
  if (status !== 200 || typeof found !== "number") throw new Error(`not made: ${JSON.stringify(body)}`);
  return found;
}

/** Sends a direct message to the client's own user, and returns its id. */
export function noteToSelf(client: Client, content: string): Promise<number> {
  return made(client.post("/messages", { type: "direct", to: [client.userId], content }), "id");
}

/** @throws Error if the request was rejected */
// biome-ignore lint/suspicious/noExplicitAny: the answer's JSON
export async function must(answer: Promise<Answer>): Promise<any> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
