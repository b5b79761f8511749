/** Records with a machine, and commands about them, for the test of all machines (test/runtime/machines.test.ts). */
import fc from "fast-check";
import { recordMachines } from "../../actors/kinds.ts";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import type { Subject } from "./machine-subjects.ts";
import { answerOf, generalId, type OpenRealm, ownerId, startedAt } from "./runtime.ts";
import { scheduledCommands } from "./scheduled-commands.ts";

const realm = { actor: "realm" } as const;

const parsed = parseContent("", { linkifiers: [], translateEmoticons: false });

/** Adds one of each kind of record to a realm, and returns the tests of their machines. */
export async function recordSubjects(bench: OpenRealm): Promise<readonly Subject[]> {
  const { view } = bench.realm;
  const group = { name: "g", description: "", memberIds: [], subgroupIds: [], settings: {} };
  const groupId = Number(answerOf(await bench.ask(command(realm, "group.create", group, ownerId)))["group_id"]);
  const folder = { name: "f", description: { text: "", parsed } };
  const created = answerOf(await bench.ask(command(realm, "channel-folder.create", folder, ownerId)));
  const folderId = Number(created["channel_folder_id"]);
  const reply = await bench.ask(scheduledCommands.schedule("later", startedAt + 3_600_000));
  const scheduledId = Number(answerOf(reply)["scheduled_message_id"]);
  const user = defined(view.users.get(ownerId));
  const scheduled = defined(view.row("scheduledMessages", [ownerId, scheduledId]));
  const contexts: Readonly<Record<string, { readonly context: object; readonly sent: fc.Arbitrary<Command> }>> = {
    channel: { context: { row: view.channels.get(generalId), caller: user }, sent: channelCommands },
    "channel-folder": {
      context: { row: view.row("channelFolders", folderId), caller: user },
      sent: folderCommands(folderId),
    },
    "scheduled-message": {
      context: { row: scheduled, author: user },
      sent: scheduledMessageCommands(scheduledId, scheduled.timer ?? 0),
    },
    "user-group": { context: { row: view.groups.get(groupId), caller: user }, sent: groupCommands(groupId) },
  };
  return recordMachines.map(({ machine, stateOf }) => {
    const { context, sent } = defined(contexts[machine.id]);
    const initial = { state: String(machine.config.initial), context };
    return { name: machine.id, machine, initial, sent, pauses: [0], stateOf: stateOf as (row: unknown) => string };
  });
}

function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the realm lacks a record");
  return value;
}

const flag = fc.constantFrom(null, true, false);
const name = fc.constantFrom(null, "one", "two", "");

function groupCommands(groupId: number): fc.Arbitrary<Command> {
  return fc.oneof(
    fc.tuple(name, flag).map(([wanted, isDeactivated]) => {
      const params = { groupId, name: wanted, description: wanted, isDeactivated, settings: {} };
      return command(realm, "group.update", params, ownerId);
    }),
    fc.constant(command(realm, "group.deactivate", { groupId }, ownerId)),
  );
}

function folderCommands(folderId: number): fc.Arbitrary<Command> {
  return fc.oneof(
    fc.tuple(name, flag).map(([wanted, isArchived]) => {
      const params = { folderId, name: wanted, description: null, isArchived };
      return command(realm, "channel-folder.update", params, ownerId);
    }),
    channelCommands.filter(({ type }) => type === "channel.update"),
  );
}

function scheduledMessageCommands(id: number, timer: number): fc.Arbitrary<Command> {
  return fc.oneof(
    fc
      .tuple(fc.constantFrom(null, "now", "then"), fc.constantFrom(null, startedAt - 1, startedAt + 7_200_000))
      .map(([content, dueAt]) => scheduledCommands.edit(id, content, dueAt)),
    fc.constant(scheduledCommands.unschedule(id)),
    fc
      .constantFrom(timer, 99)
      .map((fired) =>
        command({ actor: "user", id: ownerId }, "scheduled-messages.give-up", { id, timer: fired }, null),
      ),
  );
}

const channelCommands: fc.Arbitrary<Command> = fc.oneof(
  fc.tuple(name, flag, flag).map(([newName, isArchived, isDefault]) => {
    const unchanged = { isPrivate: null, isWebPublic: null, isHistoryPublic: null, topicsPolicy: null, folder: null };
    const kept = { description: null, messageRetentionDays: null, groups: {}, isWebPublicAllowed: false };
    const params = { channelId: generalId, newName, isArchived, isDefault, ...unchanged, ...kept };
    return command(realm, "channel.update", params, ownerId);
  }),
  fc.constant(command(realm, "channel.archive", { channelId: generalId }, ownerId)),
  fc.boolean().map((isDefault) => command(realm, "default-channels.set", { channelId: generalId, isDefault }, ownerId)),
);
