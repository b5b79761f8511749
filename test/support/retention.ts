/** What tests of message retention need: a change of a row that is noticed as a command's would be, and time that passes. */
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import { realmOf, write } from "./conversation.ts";
import type { ManualClock } from "./manual-clock.ts";
import type { TestServer } from "./server.ts";

export const hourMs = 60 * 60 * 1000;
export const dayMs = 24 * hourMs;

/** Writes a row as a decided command would, and tells whoever watches the table. */
function change<T extends TableName>(server: TestServer, table: T, key: KeyOf<T>, row: RowOf<T>): void {
  write(server, table, key, row);
  const { observers } = realmOf(server).dispatcher;
  observers.note({ table, key, row: row as RowOf<TableName> });
  observers.publish();
}

/** The organization's limit. @param days -1: for ever */
export function keepFor(server: TestServer, days: number): void {
  const { realm } = realmOf(server).view;
  change(server, "realm", "realm", { ...realm, settings: { ...realm.settings, message_retention_days: days } });
}

/** A channel's limit. @param days -1: for ever; null: the organization's */
export function keepInChannelFor(server: TestServer, channelId: number, days: number | null): void {
  const channel = realmOf(server).view.channels.get(channelId);
  if (channel === undefined) throw new Error(`there is no channel ${channelId}`);
  change(server, "channels", channelId, { ...channel, messageRetentionDays: days });
}

/** Lets time pass, and what falls due is done when this resolves; in steps, so that timers that follow have their time. */
export async function pass(server: TestServer, clock: ManualClock, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= hourMs) {
    clock.jump(Math.min(left, hourMs));
    await realmOf(server).dispatcher.idle();
  }
}
