/**
 * A user group (spec 2.5, 3, 4.6). A deactivated group can be changed and reactivated, but nothing new may refer to it:
 * `refuseDeactivated` (domain/group-permissions.ts) is what other records answer.
 *
 *    active --group.deactivate--> deactivated --group.update, is_deactivated: false--> active
 *
 * Changes of members do not depend on the state; group-members.ts decides them.
 */
import { groupDeactivated } from "../../domain/group-permissions.ts";
import { decide, reject, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import type { RecordMachine } from "../protocol/record-machines.ts";
import {
  deactivateActiveGroup,
  type UserGroupContext,
  updateActiveGroup,
  updateDeactivatedGroup,
} from "./group-changes.ts";

interface Seen {
  readonly context: UserGroupContext;
}

const isActive = ({ context }: Seen) => context.row.isActive;
const isDeactivated = ({ context }: Seen) => !context.row.isActive;

const userGroupMachine = setupMachine<UserGroupContext>().createMachine({
  id: "user-group",
  context: ({ input }) => input,
  initial: "active",
  states: {
    active: {
      on: decide<UserGroupContext>({ "group.update": updateActiveGroup, "group.deactivate": deactivateActiveGroup }),
      always: { guard: isDeactivated, target: "deactivated", description: "group.deactivate" },
    },
    deactivated: {
      on: {
        ...decide<UserGroupContext>({ "group.update": updateDeactivatedGroup }),
        ...reject(groupDeactivated, ["group.deactivate"]),
      },
      always: { guard: isActive, target: "active", description: "group.update" },
    },
  },
  on: rejectUnhandled,
});

export const userGroups: RecordMachine<UserGroupContext> = {
  machine: userGroupMachine,
  stateOf: ({ isActive }) => (isActive ? "active" : "deactivated"),
};
