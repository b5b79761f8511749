/** Custom emoji (public API: upload-custom-emoji, get-custom-emoji, deactivate-custom-emoji). */
import { command } from "../../../actors/protocol/decision.ts";
import { emojiName, objectionToName } from "../../../domain/custom-emoji.ts";
import { deactivateEmoji, getEmoji, uploadEmoji } from "../../../schemas/emoji.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import { emojiFiles } from "../../../schemas/files.ts";
import { customEmoji } from "../../queries/emoji.ts";
import { ok } from "../../runtime/results.ts";
import { type Binding, bind, requireCaller } from "../calls.ts";
import type { Pictures } from "../media/pictures.ts";
import { newFileId, onlyFile, storeFiles } from "../media/uploads.ts";

const realmActor = { actor: "realm" } as const;

export function emojiRoutes(pictures: Pictures): readonly Binding[] {
  return [
    bind(uploadEmoji, async (call) => {
      const { realm } = call;
      const author = requireCaller(call);
      const name = emojiName(call.params.emoji_name);
      // With an Idempotency-Key a repeated request must get the first answer, when the name was still free, so the turn
      // checks the name.
      const objection = call.idempotencyKey === null ? objectionToName(realm.view, author, name) : null;
      if (objection !== null) return objection;
      const file = onlyFile(call.files, "You must upload exactly one file.");
      if (isRefusal(file)) return file;
      if (!realm.files.acceptsWrites) return refuse.storeRefusesWrites();
      const picture = await pictures.emoji(file.bytes);
      if (isRefusal(picture)) return picture;
      const id = newFileId();
      const made = {
        name,
        file: `${id}.${picture.format}`,
        stillFile: picture.still === null ? null : `${id}-still.png`,
      };
      const images = [picture.image, ...(picture.still === null ? [] : [picture.still])];
      return storeFiles(realm, {
        files: emojiFiles(made).map((fileName, index) => ({ name: fileName, bytes: images[index] ?? picture.image })),
        ask: () => realm.dispatcher.ask(command(realmActor, "emoji.add", made, author.id), call.idempotencyKey),
        isReferenced: () => [...realm.view.realmEmoji.all()].some((emoji) => emoji.file === made.file),
      });
    }),

    bind(getEmoji, (call) => ok({ emoji: customEmoji(call.realm.view) })),

    bind(deactivateEmoji, (call) => {
      const name = emojiName(call.params.emoji_name);
      return call.realm.dispatcher.ask(
        command(realmActor, "emoji.deactivate", { name }, requireCaller(call).id),
        call.idempotencyKey,
      );
    }),
  ];
}
