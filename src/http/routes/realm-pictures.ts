/** The organization's icon and logos (public API: /realm/icon, /realm/logo). */
import { command } from "../../../actors/commands.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { realmPictureFile } from "../../../schemas/files.ts";
import {
  deleteRealmIcon,
  deleteRealmLogo,
  getRealmIcon,
  getRealmLogo,
  uploadRealmIcon,
  uploadRealmLogo,
} from "../../../schemas/realm-pictures.ts";
import type { RealmPictureName } from "../../../schemas/records.ts";
import { realmPictureUrl } from "../../domain/realm-pictures.ts";
import { type Binding, bind, type Call, callerOf, type RedirectAnswer } from "../../runtime/calls.ts";
import type { AskResult } from "../../runtime/entry.ts";
import type { Pictures } from "../pictures.ts";
import { claimFiles, newFileId, onlyFile } from "../uploads.ts";

export function realmPictureRoutes(pictures: Pictures): readonly Binding[] {
  const upload = async (
    call: Call,
    name: RealmPictureName,
    make: (bytes: Buffer) => Promise<Buffer | Refusal>,
  ): Promise<AskResult> => {
    const { realm } = call;
    const sent = onlyFile(call.files, `You must upload exactly one ${name === "icon" ? "icon" : "logo"}.`);
    if ("kind" in sent) return sent;
    if (!realm.files.acceptsWrites) return refuse.storeRefusesWrites();
    const picture = await make(sent.bytes);
    if ("kind" in picture) return picture;
    const file = `${newFileId()}.png`;
    return claimFiles(realm, {
      files: [{ name: realmPictureFile({ file }), bytes: picture }],
      ask: () => set(call, name, file),
      isClaimed: () => realm.view.row("realmPictures", name)?.file === file,
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

function logoOf({ params }: Call<{ readonly night: boolean }>): RealmPictureName {
  return params.night ? "night_logo" : "logo";
}

function set(call: Call, name: RealmPictureName, file: string | null): Promise<AskResult> {
  const asked = command({ actor: "realm" }, "realm.picture.set", { name, file }, callerOf(call).id);
  return call.realm.dispatcher.ask(asked, call.claim);
}

function redirect(call: Call, name: RealmPictureName): RedirectAnswer {
  return { kind: "redirect", location: realmPictureUrl(call.realm.view, name) };
}
