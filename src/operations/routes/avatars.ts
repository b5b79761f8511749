/** The caller's own avatar (public API: upload and removal). */
import { command } from "../../../actors/protocol/decision.ts";
import { refuseAvatarChange } from "../../../domain/own-account.ts";
import { deleteAvatar, uploadAvatar } from "../../../schemas/avatars.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import { avatarFiles } from "../../../schemas/files.ts";
import { type Binding, bind, type Call, requireCaller } from "../calls.ts";
import type { Pictures } from "../media/pictures.ts";
import { newFileId, onlyFile, storeFiles } from "../media/uploads.ts";

function setAvatar(call: Call, file: string | null) {
  const { id } = requireCaller(call);
  return call.realm.dispatcher.ask(
    command({ actor: "user", id }, "user.avatar.set", { file }, id),
    call.idempotencyKey,
  );
}

export function avatarRoutes(pictures: Pictures): readonly Binding[] {
  return [
    bind(uploadAvatar, async (call) => {
      const { realm } = call;
      const { id } = requireCaller(call);
      // Checked before the work on the picture; the actor checks again in the turn.
      const refused = refuseAvatarChange(realm.view, requireCaller(call));
      if (refused !== null) return refused;
      const file = onlyFile(call.files, "You must upload exactly one avatar.");
      if (isRefusal(file)) return file;
      if (!realm.files.acceptsWrites) return refuse.storeRefusesWrites();
      const picture = await pictures.avatar(file.bytes);
      if (isRefusal(picture)) return picture;
      const name = `${newFileId()}.png`;
      const path = `${realm.view.realm.id}/${name}`;
      const [small = "", medium = ""] = avatarFiles(path);
      return storeFiles(realm, {
        files: [
          { name: small, bytes: picture.small },
          { name: medium, bytes: picture.medium },
        ],
        ask: () => setAvatar(call, name),
        isReferenced: () => realm.view.users.get(id)?.avatarFile === path,
      });
    }),

    bind(deleteAvatar, (call) => setAvatar(call, null)),
  ];
}
