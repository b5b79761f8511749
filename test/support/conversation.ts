/** What the tests of the page use: a channel with subscribers, and the opened realm. */
import type { Realm } from "../../src/runtime/realm.ts";
import type { Client, Params } from "./client.ts";
import type { TestServer } from "./server.ts";

export function realmOf(server: TestServer): Realm {
  return server.realm;
}

export function createChannel(by: Client, name: string, subscribers: readonly Client[], more: Params = {}) {
  return by.createChannel(name, subscribers, more);
}
