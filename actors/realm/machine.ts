/**
 * The realm actor: everything that must be unique or consistent across an organization. A single actor, so its commands
 * have one order (M7). Its collections are in tables; the context holds only what determines the state.
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
import { decide, ignore, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { realmAreas } from "./areas.ts";
import { isDeactivated, isOpen, type RealmContext } from "./context.ts";
import { createRealm } from "./realm-creation.ts";
import { isOpenAlready } from "./realm-deactivation.ts";

export const realmMachineVersion = 1;

const on = decide<RealmContext>(...realmAreas);

export const realmMachine = setupMachine<RealmContext>().createMachine({
  id: "realm",
  context: { phase: "uninitialized" },
  initial: "uninitialized",
  states: {
    uninitialized: {
      on: decide<RealmContext>({ "realm.create": createRealm }),
      always: { guard: isOpen, target: "open", description: "realm.create" },
    },
    open: {
      on: { ...on, ...decide<RealmContext>({ "realm.reactivate": isOpenAlready }) },
      always: { guard: isDeactivated, target: "deactivated", description: "realm.deactivate" },
    },
    deactivated: {
      on: { ...on, ...ignore(["realm.deactivate"]) },
      always: { guard: isOpen, target: "open", description: "realm.reactivate" },
    },
  },
  on: rejectUnhandled,
});
