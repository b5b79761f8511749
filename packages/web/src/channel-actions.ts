/** Joining, leaving and changing channels. */
import { client } from "./api.ts";
import { attempt, tell } from "./notices.ts";

export async function subscribe(name: string): Promise<void> {
  const isDone = await attempt(`You were not subscribed to #${name}`, () =>
    client.call("POST /users/me/subscriptions", { subscriptions: [{ name }] }),
  );
  if (isDone) tell(`You are subscribed to #${name}.`);
}

export async function unsubscribe(name: string): Promise<void> {
  const isDone = await attempt(`You were not unsubscribed from #${name}`, () =>
    client.call("DELETE /users/me/subscriptions", { subscriptions: [name] }),
  );
  if (isDone) tell(`You have left #${name}.`, { label: "Undo", run: () => subscribe(name) });
}

/** The person's own settings of a channel: its color, muting, pinning, notifications. */
export function setOwn(channelId: number, property: string, value: boolean | string): Promise<unknown> {
  return client.call("POST /users/me/subscriptions/properties", {
    subscription_data: [{ stream_id: channelId, property, value }],
  });
}
