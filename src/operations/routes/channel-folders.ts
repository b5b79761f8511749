/** Channel folders (spec 4.5; public API). Markdown is parsed here; the realm actor resolves its references. */
import { command } from "../../../actors/protocol/decision.ts";
import { channelFolderBody, channelFolders, checkFolderTexts } from "../../../domain/channel-folders.ts";
import { parseContent } from "../../../domain/markdown/render.ts";
import type { View } from "../../../domain/view.ts";
import {
  createChannelFolder,
  getChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
} from "../../../schemas/channel-folders.ts";
import type { Section } from "../../queries/state-section.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";

function listChannelFolders(view: View, includesArchived: boolean) {
  return channelFolders(view)
    .filter((folder) => includesArchived || !folder.isArchived)
    .map(channelFolderBody);
}

/** Includes archived folders (behaviour 2.5). */
export const channelFoldersState: Section<"channel_folders"> = (view) => ({
  channel_folders: listChannelFolders(view, true),
});

const realmActor = { actor: "realm" } as const;

function describe(text: string) {
  const description = text.trim();
  return { text: description, parsed: parseContent(description, { linkifiers: [], translateEmoticons: false }) };
}

export const channelFolderRoutes = [
  bind(createChannelFolder, (call) => {
    const name = call.params.name.trim();
    const refused = checkFolderTexts(name, call.params.description.trim());
    if (refused !== null) return refused;
    const folder = { name, description: describe(call.params.description) };
    return call.realm.dispatcher.ask(
      command(realmActor, "channel-folder.create", folder, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(getChannelFolders, (call) =>
    ok({ channel_folders: listChannelFolders(call.realm.view, call.params.include_archived) }),
  ),

  bind(reorderChannelFolders, (call) => {
    return call.realm.dispatcher.ask(
      command(realmActor, "channel-folder.reorder", { order: call.params.order }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(updateChannelFolder, (call) => {
    const { params } = call;
    const name = params.name?.trim() ?? null;
    const refused = checkFolderTexts(name, params.description?.trim() ?? null);
    if (refused !== null) return refused;
    const update = {
      folderId: params.channel_folder_id,
      name,
      description: params.description === undefined ? null : describe(params.description),
      isArchived: params.is_archived ?? null,
    };
    return call.realm.dispatcher.ask(
      command(realmActor, "channel-folder.update", update, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];
