/**
 * Tells the retention actor when there is something to look at: a limit that was set or changed, however that came about, or a
 * realm that is opened with limits, where a crash may have come between a change and the look.
 */
import { command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, SnapshotRecord } from "../../schemas/records.ts";
import type { Dispatcher } from "./dispatcher.ts";

const heldLine = `Message retention is held: the clock jumped ahead, and more than ${limits.retention_leap_percent_max}% of all messages would be removed. Stop the server, then run "cli confirm-retention" if the clock is right, "cli set-time" if it was wrong.`;

/** @param isFounded whether there is an organization yet */
export function watchRetention(dispatcher: Dispatcher, isFounded: boolean, warn: (line: string) => void): void {
  const { view, observers } = dispatcher;
  const look = () => dispatcher.tell(command({ actor: "retention" }, "retention.look", {}, null));
  const own = new OwnLimits();
  for (const channel of view.channels.all()) own.note(channel);
  const ofRealm = () => view.realm.settings["message_retention_days"];
  let realmDays = isFounded ? ofRealm() : undefined;
  if (Number(realmDays) > 0 || own.isAnySet) look();
  observers.observe("realm", () => {
    const before = realmDays;
    realmDays = ofRealm();
    if (realmDays !== before) look();
  });
  observers.observe("snapshots", (deltas) => {
    const isHeld = deltas.some(
      ({ key, row }) => key === "retention" && (row as SnapshotRecord | null)?.state === "held",
    );
    if (isHeld) warn(heldLine);
  });
  observers.observe("channels", (deltas) => {
    const rows = deltas.flatMap(({ row }) => (row === null ? [] : [row as ChannelRecord]));
    if (rows.filter((row) => own.note(row)).length > 0) look();
  });
}

/** Of channels that do not follow the organization. */
class OwnLimits {
  readonly #days = new Map<number, number>();

  get isAnySet(): boolean {
    return [...this.#days.values()].some((days) => days > 0);
  }

  /** @returns whether it differs from before */
  note({ id, messageRetentionDays: days }: ChannelRecord): boolean {
    if ((this.#days.get(id) ?? null) === days) return false;
    if (days === null) this.#days.delete(id);
    else this.#days.set(id, days);
    return true;
  }
}
