/** CLI commands for an organization's time: show it, set it back, and let paused retention continue. */
import type { Command as Program } from "commander";
import { command } from "../actors/protocol/commands.ts";
import type { RetentionContext } from "../actors/retention/context.ts";
import { systemClock } from "./runtime/clock.ts";
import type { Realm } from "./runtime/realm.ts";
import { realmFolder } from "./runtime/realm-host.ts";
import { type Environment, openEnvironment } from "./store/environment.ts";
import type { RealmEntry, RootStore } from "./store/root.ts";
import { lastTurnAt, setTime } from "./store/set-time.ts";

export interface CliTools {
  dataDir(): string;
  say(line: string): void;
  fail(message: string): never;
  withRoot<T>(isExclusive: boolean, work: (root: RootStore) => Promise<T>): Promise<T>;
  withRealm<T>(label: string, work: (realm: Realm) => Promise<T>): Promise<T>;
}

export function entryOf(root: RootStore, label: string, fail: CliTools["fail"]): RealmEntry {
  return root.realms().find((entry) => entry.label === label) ?? fail(`there is no realm ${JSON.stringify(label)}`);
}

/** Reads or writes rows of a realm that may be open in another process. */
export async function withRows<T>(folder: string, work: (environment: Environment) => T): Promise<T> {
  const environment = openEnvironment(folder);
  try {
    return work(environment);
  } finally {
    await environment.close();
  }
}

const nameOf = ({ label }: RealmEntry) => (label === "" ? "default organization" : `organization ${label}`);

export function addTimeCommands(program: Program, { dataDir, say, fail, withRoot, withRealm }: CliTools): void {
  program
    .command("time")
    .description("show each organization's time, and whether message retention is held; the server may be running")
    .action(async () => {
      await withRoot(false, async (root) => {
        for (const entry of root.realms()) {
          const lines = await withRows(realmFolder(dataDir(), entry.id), describe);
          for (const line of lines) say(`${nameOf(entry)}: ${line}`);
        }
      });
    });

  program
    .command("set-time")
    .description(
      "set an organization's time back to the system clock after the clock was ahead (the server must not be running); dates in the future become the present, scheduled messages and reminders are unchanged",
    )
    .option("--realm <label>", "label of the realm", "")
    .action(async (options: { realm: string }) => {
      await withRoot(true, async (root) => {
        const entry = entryOf(root, options.realm, fail);
        const now = systemClock.now();
        const folder = realmFolder(dataDir(), entry.id);
        const before = await withRows(folder, lastTurnAt);
        const changed = await withRows(folder, (environment) => setTime(environment, now));
        if (changed === null) {
          say(`${nameOf(entry)}: its time, ${textOf(before)}, is not ahead of the system clock; nothing was changed`);
          return;
        }
        root.putRealm({ ...entry, dueHint: 0 });
        say(
          `${nameOf(entry)}: time set from ${textOf(before)} to ${textOf(now)}; the dates of ${changed} rows were changed`,
        );
      });
    });

  program
    .command("confirm-retention")
    .description(
      "resume message retention that is held because the clock jumped ahead: confirms that the clock is right and old messages may be removed (the server must not be running)",
    )
    .option("--realm <label>", "label of the realm", "")
    .action(async (options: { realm: string }) => {
      const { wasHeld, result } = await withRealm(options.realm, async (realm) => {
        await realm.dispatcher.idle();
        realm.dispatcher.trustClock();
        const wasHeld = realm.environment.get("snapshots", "retention")?.state === "held";
        const asked = command({ actor: "retention" }, "retention.confirm", {}, null);
        return { wasHeld, result: await realm.dispatcher.ask(asked) };
      });
      if (result.kind === "refused") fail(result.msg);
      say(
        wasHeld ? "message retention continues" : "message retention was not held; clock jumps up to now are confirmed",
      );
    });
}

function textOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function describe(environment: Environment): string[] {
  const turnAt = lastTurnAt(environment);
  const aheadMs = turnAt - systemClock.now();
  const ahead = aheadMs > 0 ? `, ${Math.ceil(aheadMs / 1000)} seconds ahead of the system clock: see set-time` : "";
  const snapshot = environment.get("snapshots", "retention");
  const held = snapshot?.state === "held" ? (snapshot.context as RetentionContext).held : null;
  const lines = [`last change at ${textOf(turnAt)}${ahead}`];
  if (held !== null) {
    lines.push(
      `message retention is held: by ${textOf(held.at)} too many of ${held.allMessages} messages would be removed; see confirm-retention and set-time`,
    );
  }
  return lines;
}
