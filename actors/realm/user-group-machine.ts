/**
 * A user group (spec 2.5, 3, 4.6). A deactivated group can be changed and reactivated, but nothing new may refer to it:
 * `refuseDeactivated` (domain/group-permissions.ts) is what other records answer.
 *
 *    active --group.deactivate--> deactivated --group.update, is_deactivated: false--> active
 *
 * Changes of members do not depend on the state; group-members.ts decides them.
 */
import { groupDeactivated } from "../../domain/group-permissions.ts";
import { decide, lead, reject, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import type { RecordMachine } from "../protocol/record-machines.ts";
import {
  deactivateActiveGroup,
  groupState,
  type UserGroupContext,
  updateActiveGroup,
  updateDeactivatedGroup,
} from "./group-changes.ts";

const userGroupMachine = setupMachine<UserGroupContext>().createMachine({
  id: "user-group",
  context: ({ input }) => input,
  initial: "active",
  states: {
    active: {
      on: lead(
        decide<UserGroupContext>({ "group.update": updateActiveGroup, "group.deactivate": deactivateActiveGroup }),
        { "group.deactivate": { deactivated: "always" } },
      ),
    },
    deactivated: {
      on: {
        ...lead(decide<UserGroupContext>({ "group.update": updateDeactivatedGroup }), {
          "group.update": { active: "is_deactivated is false" },
        }),
        ...reject(groupDeactivated, ["group.deactivate"]),
      },
    },
  },
  on: rejectUnhandled,
});

export const userGroups: RecordMachine<UserGroupContext> = {
  machine: userGroupMachine,
  stateOf: groupState,
};
