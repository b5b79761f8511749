/** Channel folders (spec 4.5; behaviour 2.5): names are unique in an organization, and archived folders keep theirs. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelFolderRecord, UserRecord } from "../../schemas/records.ts";
import { channelFolderBody, channelFolders } from "../../src/domain/channel-folders.ts";
import { resolveContent } from "../../src/domain/markdown/resolve.ts";
import { mentionResolver } from "../../src/domain/mention-resolver.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command, FolderDescription } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Answer, type Effect, effects } from "../effects.ts";

/** POST /channel_folders/create. A new folder is the last one. */
export function createChannelFolder(_context: unknown, asked: Command<"channel-folder.create">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const { name, description } = asked.params;
  const all = channelFolders(view);
  if (isTaken(all, name)) return nameInUse();
  if (all.length >= limits.channel_folders_per_realm_max) return refuse.badRequest("Too many channel folders");
  const id = view.counter("channelFolder") + 1;
  const folder: ChannelFolderRecord = {
    id,
    name,
    ...rendered(view, caller, description),
    creatorId: caller.id,
    createdAt: view.now,
    isArchived: false,
    order: all.length,
  };
  return done({ channel_folder_id: id }, [
    effects.count("channelFolder", id),
    effects.put("channelFolders", id, folder),
    told({ op: "add", channel_folder: channelFolderBody(folder) }),
  ]);
}

function isTaken(folders: readonly ChannelFolderRecord[], name: string): boolean {
  return folders.some((folder) => fold(folder.name) === fold(name));
}

function nameInUse(): Refusal {
  return refuse.badRequest("Channel folder name already in use");
}

/** As a message of the caller's would be. */
function rendered(view: View, caller: UserRecord, { text, parsed }: FolderDescription) {
  return { description: text, renderedDescription: resolveContent(parsed, mentionResolver(view, caller)).html };
}

/** Everybody, guests as well, whatever they see of the channels in it. */
function told(body: Answer): Effect {
  return effects.emit("channel_folder", body, { to: "realm" });
}

/** PATCH /channel_folders/{id}: all of it or nothing, and one event with what differs. */
export function updateChannelFolder(_context: unknown, asked: Command<"channel-folder.update">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const { folderId, name, description, isArchived } = asked.params;
  const all = channelFolders(view);
  const before = all.find(({ id }) => id === folderId);
  if (before === undefined) return refuse.badRequest("Invalid channel folder ID");
  const others = all.filter(({ id }) => id !== folderId);
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
  return done({}, [
    effects.put("channelFolders", folderId, after),
    told({ op: "update", channel_folder_id: folderId, data }),
  ]);
}

function difference(before: ChannelFolderRecord, after: ChannelFolderRecord): Answer {
  return {
    ...(after.name === before.name ? {} : { name: after.name }),
    ...(after.description === before.description
      ? {}
      : { description: after.description, rendered_description: after.renderedDescription }),
    ...(after.isArchived === before.isArchived ? {} : { is_archived: after.isArchived }),
  };
}

/** PATCH /channel_folders: every folder once, the archived ones, too, and nothing else. */
export function reorderChannelFolders(
  _context: unknown,
  asked: Command<"channel-folder.reorder">,
  view: View,
): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const { order } = asked.params;
  const all = channelFolders(view);
  const places = new Map(order.map((id, index) => [id, index]));
  const isExact = order.length === all.length && all.every(({ id }) => places.has(id));
  if (!isExact) return refuse.badRequest("Invalid order mapping");
  const moved = all
    .map((folder, index) => ({ index, folder: { ...folder, order: places.get(folder.id) ?? index } }))
    .filter(({ index, folder }) => folder.order !== index);
  if (moved.length === 0) return done({}, []);
  return done({}, [
    ...moved.map(({ folder }) => effects.put("channelFolders", folder.id, folder)),
    told({ op: "reorder", order }),
  ]);
}
