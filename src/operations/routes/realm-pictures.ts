/** The organization's icon and logos (public API: /realm/icon, /realm/logo). */
import { command, type NoFields } from "../../../actors/protocol/decision.ts";
import { realmPictureUrl } from "../../../domain/realm-pictures.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { realmPictureFile } from "../../../schemas/files.ts";
import {
  deleteRealmIcon,
  deleteRealmLogo,
  getRealmIcon,
  getRealmLogo,
  type RealmPictureName,
  uploadRealmIcon,
  uploadRealmLogo,
} from "../../../schemas/realm-pictures.ts";
import type { RedirectAnswer, Reply } from "../../runtime/results.ts";
import { type Binding, bind, type Call, requireCaller } from "../calls.ts";
import type { Pictures } from "../media/pictures.ts";
import { newFileId, onlyFile, storeFiles } from "../media/uploads.ts";

export function realmPictureRoutes(pictures: Pictures): readonly Binding[] {
  const upload = async <N extends RealmPictureName>(
    call: Call,
    name: N,
    make: (bytes: Buffer) => Promise<Buffer | Refusal>,
  ): Promise<Reply<PictureReply<N>>> => {
    const { realm } = call;
    const sent = onlyFile(call.files, `You must upload exactly one ${name === "icon" ? "icon" : "logo"}.`);
    if (isRefusal(sent)) return sent;
    if (!realm.files.acceptsWrites) return refuse.storeRefusesWrites();
    const picture = await make(sent.bytes);
    if (isRefusal(picture)) return picture;
    const file = `${newFileId()}.png`;
    return storeFiles(realm, {
      files: [{ name: realmPictureFile({ file }), bytes: picture }],
      ask: () => set(call, name, file),
      isReferenced: () => realm.view.row("realmPictures", name)?.file === file,
    });
  };

  return [
    bind(uploadRealmIcon, (call) => upload(call, "icon", (bytes) => pictures.realmIcon(bytes))),
    bind(deleteRealmIcon, (call) => set(call, "icon", null)),
    bind(getRealmIcon, (call) => redirect(call, "icon")),
    bind(uploadRealmLogo, (call) => upload(call, logoOf(call), (bytes) => pictures.realmLogo(bytes))),
    bind(deleteRealmLogo, (call) => set(call, logoOf(call), null)),
    bind(getRealmLogo, (call) => redirect(call, logoOf(call))),
  ];
}

function logoOf({ params }: Call<{ readonly night: boolean }>) {
  return params.night ? "night_logo" : "logo";
}

type PictureReply<N> = N extends "icon" ? { readonly icon_url: string } : NoFields;

function set<N extends RealmPictureName>(call: Call, name: N, file: string | null) {
  return call.realm.dispatcher.ask(
    command({ actor: "realm" }, "realm.picture.set", { name, file }, requireCaller(call).id),
    call.idempotencyKey,
  ) as Promise<Reply<PictureReply<N>>>; // see CommandReplies
}

function redirect(call: Call, name: RealmPictureName): RedirectAnswer {
  return { kind: "redirect", location: realmPictureUrl(call.realm.view, name) };
}
