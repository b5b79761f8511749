/** Uploaded files (public API: upload-file, get-file-temporary-url, get-attachments, remove-attachment). */
import { command } from "../../../actors/protocol/decision.ts";
import { attachmentAt } from "../../../domain/attachments.ts";
import {
  getAttachments,
  getFileTemporaryUrl,
  removeAttachment,
  type UploadQuotas,
  uploadFile,
} from "../../../schemas/attachments.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import { uploadName, uploadsPath } from "../../../schemas/files.ts";
import { attachmentList, maySee } from "../../queries/attachments.ts";
import { ok } from "../../runtime/results.ts";
import { type Binding, bind, requireCaller } from "../calls.ts";
import type { Pictures } from "../media/pictures.ts";
import type { TemporaryUrls } from "../media/temporary-urls.ts";
import { storeFiles } from "../media/uploads.ts";

export interface AttachmentOptions {
  readonly pictures: Pictures;
  readonly temporaryUrls: TemporaryUrls;
  readonly quotas: UploadQuotas;
}

export function attachmentRoutes({ pictures, temporaryUrls, quotas }: AttachmentOptions): readonly Binding[] {
  return [
    bind(uploadFile, async (call) => {
      const { realm, idempotencyKey } = call;
      const [sent] = call.stagedFiles;
      if (sent === undefined) return refuse.badRequest("You must specify a file to upload");
      const { id } = requireCaller(call);
      const { file, filename, upload, sha256 } = sent;
      const image = await pictures.measure((bytesMax) => upload.head(bytesMax));
      if (isRefusal(image)) return image;
      const params = { file, name: filename, size: upload.size, image, sha256, ...quotas };
      return storeFiles(realm, {
        files: [{ name: uploadName(file), bytes: upload }],
        ask: () => realm.dispatcher.ask(command({ actor: "user", id }, "attachment.add", params, id), idempotencyKey),
        isReferenced: () => realm.view.row("attachmentFiles", file) !== undefined,
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

    bind(getAttachments, async (call) => ok(await attachmentList(call.realm.view, requireCaller(call)))),

    bind(removeAttachment, (call) => {
      const { id } = requireCaller(call);
      const params = { attachmentId: call.params.attachment_id };
      return call.realm.dispatcher.ask(
        command({ actor: "user", id }, "attachment.remove", params, id),
        call.idempotencyKey,
      );
    }),
  ];
}
