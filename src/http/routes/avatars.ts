/** One's own picture (public API: upload and removal of an avatar). */
import { command } from "../../../actors/commands.ts";
import { deleteAvatar, uploadAvatar } from "../../../schemas/avatars.ts";
import { refuse } from "../../../schemas/errors.ts";
import { avatarFiles } from "../../../schemas/files.ts";
import { refuseAvatarChange } from "../../domain/own-account.ts";
import { type Binding, bind, type Call, callerOf } from "../../runtime/calls.ts";
import type { Pictures } from "../pictures.ts";
import { claimFiles, newFileId, onlyFile } from "../uploads.ts";

function setAvatar(call: Call, file: string | null) {
  const { id } = callerOf(call);
  return call.realm.dispatcher.ask(command({ actor: "user", id }, "user.avatar.set", { file }, id), call.claim);
}

export function avatarRoutes(pictures: Pictures): readonly Binding[] {
  return [
    bind(uploadAvatar, async (call) => {
      const { realm } = call;
      const { id } = callerOf(call);
      // Before the work on the picture; the actor decides again in the turn.
      const refused = refuseAvatarChange(realm.view, callerOf(call));
      if (refused !== null) return refused;
      const file = onlyFile(call.files, "You must upload exactly one avatar.");
      if ("kind" in file) return file;
      if (!realm.files.acceptsWrites) return refuse.storeRefusesWrites();
      const picture = await pictures.avatar(file.bytes);
      if ("kind" in picture) return picture;
      const name = `${newFileId()}.png`;
      const path = `${realm.view.realm.id}/${name}`;
      const [small = "", medium = ""] = avatarFiles(path);
      return claimFiles(realm, {
        files: [
          { name: small, bytes: picture.small },
          { name: medium, bytes: picture.medium },
        ],
        ask: () => setAvatar(call, name),
        isClaimed: () => realm.view.users.get(id)?.avatarFile === path,
      });
    }),

    bind(deleteAvatar, (call) => setAvatar(call, null)),
  ];
}
