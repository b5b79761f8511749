/**
 * One person: API keys and event queues now; settings, status and read state live here, too, as they come.
 * Whether the account is active is the realm's to say; a deactivated person's commands are refused in every state.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { addApiKey, regenerateApiKey } from "./api-keys.ts";
import { deleteQueue, registerQueue } from "./queues.ts";

export type UserContext = Record<string, never>;

export const userMachineVersion = 1;

const { decide, notUnderstood } = hosting<UserContext>();

export const userMachine = setup({
  types: { context: {} as UserContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "user",
  context: {},
  initial: "active",
  states: {
    active: {
      on: {
        "user.api-key.add": { actions: decide(addApiKey) },
        "user.api-key.regenerate": { actions: decide(regenerateApiKey) },
        "queue.register": { actions: decide(registerQueue) },
        "queue.delete": { actions: decide(deleteQueue) },
      },
    },
  },
  on: { "*": { actions: notUnderstood } },
});
