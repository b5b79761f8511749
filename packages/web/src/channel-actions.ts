/** Joining channels. */
import { client } from "./api.ts";
import { attempt, tell } from "./notices.ts";

export async function subscribe(name: string): Promise<void> {
  const isDone = await attempt(`You were not subscribed to #${name}`, () =>
    client.call("POST /users/me/subscriptions", { subscriptions: [{ name }] }),
  );
  if (isDone) tell(`You are subscribed to #${name}.`);
}
