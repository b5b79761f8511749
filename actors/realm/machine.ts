/**
 * The realm actor: everything that must be unique or consistent across an organization. A single actor, so its commands
 * have one order (M7). Its collections are in tables.
 *
 *    uninitialized --realm.create--> open --realm.deactivate--> deactivated --realm.reactivate--> open
 *
 * A deactivated organization rejects users, not commands: `refuseCaller` rejects every command with a caller, in every
 * actor, while timers, continuations and the operator's commands still run. "Read-only while the disk is full" (M5) is no state
 * of the realm either: it concerns the commands of all actors, it must be decided before a turn begins to write, and it
 * may not be stored, because storing is what fails. The dispatcher decides it for each turn (src/runtime/dispatcher.ts).
 *
 * There are many commands because they share one order, not because they share states; each area decides in its own
 * files of this folder.
 */
import { forEither, forServer } from "../protocol/decision.ts";
import { decide, ignore, lead, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { realmAreas } from "./areas.ts";
import { createRealm } from "./realm-creation.ts";
import { isOpenAlready } from "./realm-deactivation.ts";

type RealmContext = Record<string, never>;

export const realmMachineVersion = 1;

const on = decide<RealmContext>(...realmAreas);

export const realmMachine = setupMachine<RealmContext>().createMachine({
  id: "realm",
  context: {},
  initial: "uninitialized",
  states: {
    uninitialized: {
      on: lead(decide<RealmContext>({ "realm.create": forServer(createRealm) }), {
        "realm.create": { open: "always" },
      }),
    },
    open: {
      on: {
        ...lead(on, { "realm.deactivate": { deactivated: "always" } }),
        ...decide<RealmContext>({ "realm.reactivate": forEither(isOpenAlready) }),
      },
    },
    deactivated: {
      on: { ...lead(on, { "realm.reactivate": { open: "always" } }), ...ignore(["realm.deactivate"]) },
    },
  },
  on: rejectUnhandled,
});
