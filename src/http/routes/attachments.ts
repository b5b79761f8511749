/** Uploaded files (public API: upload-file, get-file-temporary-url, get-attachments, remove-attachment). */
import { command, type UploadQuotas } from "../../../actors/commands.ts";
import { getAttachments, getFileTemporaryUrl, removeAttachment, uploadFile } from "../../../schemas/attachments.ts";
import { refuse } from "../../../schemas/errors.ts";
import { uploadName, uploadsPath } from "../../../schemas/files.ts";
import { attachmentAt } from "../../domain/attachments.ts";
import { attachmentList, maySee } from "../../queries/attachments.ts";
import { type Binding, bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";
import type { Pictures } from "../pictures.ts";
import type { TemporaryUrls } from "../temporary-urls.ts";
import { claimFiles } from "../uploads.ts";

export interface AttachmentOptions {
  readonly pictures: Pictures;
  readonly temporaryUrls: TemporaryUrls;
  readonly quotas: UploadQuotas;
}

export function attachmentRoutes({ pictures, temporaryUrls, quotas }: AttachmentOptions): readonly Binding[] {
  return [
    bind(uploadFile, async (call) => {
      const { realm, claim } = call;
      const [sent] = call.drafts;
      if (sent === undefined) return refuse.badRequest("You must specify a file to upload");
      const { id } = callerOf(call);
      const { file, filename, draft, sha256 } = sent;
      const image = await pictures.measure((bytesMax) => draft.head(bytesMax));
      if (image !== null && "kind" in image) return image;
      const params = { file, name: filename, size: draft.size, image, sha256, ...quotas };
      return claimFiles(realm, {
        files: [{ name: uploadName(file), bytes: draft }],
        ask: () => realm.dispatcher.ask(command({ actor: "user", id }, "attachment.add", params, id), claim),
        isClaimed: () => realm.view.row("attachmentFiles", file) !== undefined,
      });
    }),

    bind(getFileTemporaryUrl, async ({ realm, caller, params }) => {
      const path = `${params.realm_id_str}/${params.filename}`;
      const attachment = attachmentAt(realm.view, path);
      if (attachment === undefined || !(await maySee(realm.view, caller, attachment))) {
        return refuse.notFound("File not found");
      }
      return ok({ url: `${uploadsPath}${temporaryUrls.make(realm, attachment)}` });
    }),

    bind(getAttachments, async (call) => ok(await attachmentList(call.realm.view, callerOf(call)))),

    bind(removeAttachment, (call) => {
      const { id } = callerOf(call);
      const params = { attachmentId: call.params.attachment_id };
      return call.realm.dispatcher.ask(command({ actor: "user", id }, "attachment.remove", params, id), call.claim);
    }),
  ];
}
