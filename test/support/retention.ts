/**
 * Helpers for tests of message retention: a row change that reaches watchers like a command's, and time that passes.
 */

import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import { deltaOf } from "../../src/store/projections/projection.ts";
import type { ManualClock } from "./manual-clock.ts";
import type { TestServer } from "./server.ts";

export const hourMs = 60 * 60 * 1000;
export const dayMs = 24 * hourMs;

/** Writes a row as a decided command does, and notifies the watchers of the table. */
function change<T extends TableName>(server: TestServer, table: T, key: KeyOf<T>, row: RowOf<T>): void {
  server.write(table, key, row);
  const { observers } = server.realm.dispatcher;
  observers.apply(deltaOf(table, key, row));
  observers.take()?.();
}

/** Sets the organization's limit. @param days -1: for ever */
export function keepFor(server: TestServer, days: number): void {
  const { realm } = server.realm.view;
  change(server, "realm", "realm", { ...realm, settings: { ...realm.settings, message_retention_days: days } });
}

/** Sets a channel's limit. @param days -1: for ever; null: the organization's */
export function keepInChannelFor(server: TestServer, channelId: number, days: number | null): void {
  const channel = server.realm.view.channels.get(channelId);
  if (channel === undefined) throw new Error(`there is no channel ${channelId}`);
  change(server, "channels", channelId, { ...channel, messageRetentionDays: days });
}

/** Advances time in steps, so that follow-up timers fire on time. Resolves when all work that became due is done. */
export async function pass(server: TestServer, clock: ManualClock, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= hourMs) {
    clock.jump(Math.min(left, hourMs));
    await server.realm.dispatcher.idle();
  }
}
