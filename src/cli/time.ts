/** CLI commands for an organization's time: show it, set it back, and let paused retention continue. */
import type { Command as Program } from "commander";
import { readConfig } from "../app/config.ts";
import { withLockedRoot } from "../app/offline-ports.ts";
import { breakChain } from "../durability/archive/base-chain.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import { type RealmTimeState, timeOperation } from "../operate/admin/operations.ts";
import { confirmRetentionOperation } from "../operate/admin/realm-operations.ts";
import { systemClock } from "../runtime/clock.ts";
import { openLmdb } from "../store/lmdb.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { lastTurnAt, setTime } from "../store/set-time.ts";
import { addCommand, type RealmOptions, realmOption } from "./commands.ts";
import { alarm, dataDir, type OutputOptions, perform, say } from "./session.ts";

const nameOf = (label: string) => (label === "" ? "default organization" : `organization ${label}`);

export function addTimeCommands(program: Program): void {
  addCommand(program, "time")
    .description("show each organization's time, and whether message retention is held")
    .action((options: OutputOptions) =>
      perform(timeOperation, {}, options, ({ realms }) => ({ lines: realms.flatMap(describe) })),
    );

  realmOption(addCommand(program, "set-time"))
    .description(
      "set an organization's time back to the system clock after the clock was ahead (the server must not be running); dates in the future become the present, scheduled messages and reminders are unchanged",
    )
    .action(setBack);

  realmOption(addCommand(program, "confirm-retention"))
    .description(
      "resume message retention that is held because the clock jumped ahead: confirms that the clock is right and old messages may be removed",
    )
    .action((options: RealmOptions) =>
      perform(confirmRetentionOperation, { realm: options.realm }, options, ({ was_held: wasHeld }) => ({
        lines: [
          wasHeld
            ? "message retention continues"
            : "message retention was not held; clock jumps up to now are confirmed",
        ],
      })),
    );
}

/** Rows are rewritten below the organization, so no server may have it open. */
async function setBack({ realm: label, json }: RealmOptions): Promise<void> {
  const result = await withLockedRoot({ config: readConfig(process.env), dataDir: dataDir(), alarm }, async (root) => {
    const entry = root.realms().find((candidate) => candidate.label === label);
    if (entry === undefined) throw new AdminFailure("refused", `there is no realm ${JSON.stringify(label)}`);
    const now = systemClock.now();
    const lmdb = openLmdb(realmFolder(dataDir(), entry.id));
    try {
      const before = lastTurnAt(lmdb);
      // The archive would not notice the changes.
      breakChain(dataDir());
      const rows = setTime(lmdb, now);
      if (rows !== null) root.putRealm({ ...entry, dueHint: 0 });
      return { before: textOf(before), now: textOf(now), changed_rows: rows };
    } finally {
      await lmdb.close();
    }
  });
  if (json === true) say(JSON.stringify(result));
  else if (result.changed_rows === null)
    say(`${nameOf(label)}: its time, ${result.before}, is not ahead of the system clock; nothing was changed`);
  else
    say(
      `${nameOf(label)}: time set from ${result.before} to ${result.now}; the dates of ${result.changed_rows} rows were changed`,
    );
}

function textOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function describe({ label, lastChangeAt, heldRetention }: RealmTimeState): string[] {
  const aheadMs = Date.parse(lastChangeAt) - systemClock.now();
  const ahead = aheadMs > 0 ? `, ${Math.ceil(aheadMs / 1000)} seconds ahead of the system clock: see set-time` : "";
  const lines = [`last change at ${lastChangeAt}${ahead}`];
  if (heldRetention !== null) {
    lines.push(
      `message retention is held: by ${heldRetention.by} too many of ${heldRetention.allMessages} messages would be removed; see confirm-retention and set-time`,
    );
  }
  return lines.map((line) => `${nameOf(label)}: ${line}`);
}
