/**
 * Starts the retention actor when there may be something to remove: when a limit was set or changed, and when a realm
 * with limits is opened, because a crash may have separated a change from its check.
 */
import { command } from "../../actors/protocol/commands.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { SnapshotRecord } from "../../schemas/runtime.ts";
import type { Dispatcher } from "./dispatcher.ts";

const heldLine = `Message retention is held: the clock jumped ahead, and more than ${limits.retention_jump_percent_max}% of all messages would be removed. Stop the server, then run "cli confirm-retention" if the clock is right, or "cli set-time" if it was wrong.`;

/** @param isInitialized whether the organization has been created */
export function watchRetention(dispatcher: Dispatcher, isInitialized: boolean, warn: (line: string) => void): void {
  const { view, observers } = dispatcher;
  const check = () => dispatcher.send(command({ actor: "retention" }, "retention.check", {}, null));
  const own = new OwnLimits();
  for (const channel of view.channels.all()) own.note(channel);
  const ofRealm = () => view.realm.settings["message_retention_days"];
  let realmDays = isInitialized ? ofRealm() : undefined;
  if (Number(realmDays) > 0 || own.isAnySet) check();
  observers.observe("realm", () => {
    const before = realmDays;
    realmDays = ofRealm();
    if (realmDays !== before) check();
  });
  observers.observe("snapshots", (deltas) => {
    const isHeld = deltas.some(
      ({ key, row }) => key === "retention" && (row as SnapshotRecord | null)?.state === "held",
    );
    if (isHeld) warn(heldLine);
  });
  observers.observe("channels", (deltas) => {
    const rows = deltas.flatMap(({ row }) => (row === null ? [] : [row as ChannelRecord]));
    if (rows.filter((row) => own.note(row)).length > 0) check();
  });
}

/** Limits of channels that do not use the organization's default. */
class OwnLimits {
  readonly #days = new Map<number, number>();

  get isAnySet(): boolean {
    return [...this.#days.values()].some((days) => days > 0);
  }

  /** @returns whether the limit changed */
  note({ id, messageRetentionDays: days }: ChannelRecord): boolean {
    if ((this.#days.get(id) ?? null) === days) return false;
    if (days === null) this.#days.delete(id);
    else this.#days.set(id, days);
    return true;
  }
}
