/**
 * The decisions of a channel folder (channel-folder-machine.ts), and the checks that creating one shares with them
 * (spec 4.5).
 */

import { channelFolders } from "../../domain/channel-folders.ts";
import { resolveContent } from "../../domain/markdown/resolve.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelFolderRecord, FolderDescription } from "../../schemas/channel-folders.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { StoredBody } from "../../schemas/events.ts";
import { fold } from "../../schemas/fold.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import type { RecordContext } from "../protocol/record-machines.ts";

export interface ChannelFolderContext extends RecordContext<ChannelFolderRecord> {
  readonly caller: UserRecord;
}

/** One event contains the changed properties. */
export function updateFolder(
  { row: before, caller }: ChannelFolderContext,
  command: Command<"channel-folder.update">,
  view: View,
): Outcome<ChannelFolderContext> {
  const { name, description, isArchived } = command.params;
  const others = channelFolders(view).filter(({ id }) => id !== before.id);
  if (name !== null && isTaken(others, name)) return nameInUse();
  const isSameText = description === null || description.text === before.description;
  const after: ChannelFolderRecord = {
    ...before,
    name: name ?? before.name,
    ...(isSameText ? {} : rendered(view, caller, description)),
    isArchived: isArchived ?? before.isArchived,
  };
  const data = difference(before, after);
  if (Object.keys(data).length === 0) return done({}, []);
  const event = folderEvent({ op: "update", channel_folder_id: before.id, data });
  return done({}, [effects.put("channelFolders", before.id, after), event], { row: after }, folderState(after));
}

export function folderState({ isArchived }: ChannelFolderRecord): string {
  return isArchived ? "archived" : "active";
}

type FolderChange = Extract<StoredBody<"channel_folder">, { readonly op: "update" }>["data"];

function difference(before: ChannelFolderRecord, after: ChannelFolderRecord): FolderChange {
  return {
    ...(after.name === before.name ? {} : { name: after.name }),
    ...(after.description === before.description
      ? {}
      : { description: after.description, rendered_description: after.renderedDescription }),
    ...(after.isArchived === before.isArchived ? {} : { is_archived: after.isArchived }),
  };
}

export function invalidFolder(): Refusal {
  return refuse.badRequest("Invalid channel folder ID");
}

export function isTaken(folders: readonly ChannelFolderRecord[], name: string): boolean {
  return folders.some((folder) => fold(folder.name) === fold(name));
}

export function nameInUse(): Refusal {
  return refuse.badRequest("Channel folder name already in use");
}

/** Rendered like a message from the caller. */
export function rendered(view: View, caller: UserRecord, { text, parsed }: FolderDescription) {
  return { description: text, renderedDescription: resolveContent(parsed, mentionResolver(view, caller)).html };
}

/** Sent to everybody including guests, whether or not they can see the channels in it. */
export function folderEvent(body: StoredBody<"channel_folder">): Effect {
  return effects.emit("channel_folder", body, { to: "realm" });
}
