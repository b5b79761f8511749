/**
 * Images of an organization: its icon, and its wide logos for light and dark themes (public API: /realm/icon,
 * /realm/logo).
 */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { OtherText } from "./person-marks.ts";

const limits = {
  realm_picture_bytes_max: 5 * 1024 * 1024,
  realm_icon_size_px: 100,
  realm_logo_width_px: 800,
  realm_logo_height_px: 100,
} as const;

const icon = { path: "/realm/icon", authentication: "user" } as const;
const logo = { path: "/realm/logo", authentication: "user", params: { night: Type.Boolean() } } as const;
const upload = { bytesMax: limits.realm_picture_bytes_max } as const;

export const uploadRealmIcon = defineEndpoint({
  ...icon,
  operationId: "upload-realm-icon",
  method: "POST",
  effectiveness: "durable",
  role: "administrator",
  summary: "Sets the organization's icon: one file in a multipart body, decoded and re-encoded as a square.",
  upload,
  params: {},
  ok: { icon_url: OtherText },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const deleteRealmIcon = defineEndpoint({
  ...icon,
  operationId: "delete-realm-icon",
  method: "DELETE",
  effectiveness: "durable",
  role: "administrator",
  summary: "Removes the organization's icon; the generated one is used again.",
  params: {},
  ok: { icon_url: OtherText },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getRealmIcon = defineEndpoint({
  ...icon,
  operationId: "get-realm-icon",
  method: "GET",
  effectiveness: "read",
  redirects: true,
  summary: "Redirects to the organization's icon.",
  params: {},
  ok: {},
  errors: [],
});

export const uploadRealmLogo = defineEndpoint({
  ...logo,
  operationId: "upload-realm-logo",
  method: "POST",
  effectiveness: "durable",
  role: "administrator",
  summary: "Sets the organization's logo for light themes, or for dark themes (`night`).",
  upload,
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const deleteRealmLogo = defineEndpoint({
  ...logo,
  operationId: "delete-realm-logo",
  method: "DELETE",
  effectiveness: "durable",
  role: "administrator",
  summary: "Removes the organization's logo for light themes, or for dark themes (`night`).",
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getRealmLogo = defineEndpoint({
  ...logo,
  operationId: "get-realm-logo",
  method: "GET",
  effectiveness: "read",
  redirects: true,
  summary: "Redirects to the organization's logo for light themes, or for dark themes (`night`).",
  ok: {},
  errors: [],
});

/** Where a picture comes from, as clients name it: generated icon, default logo, or uploaded. */
export const pictureSources = ["G", "D", "U"] as const;
export type PictureSource = (typeof pictureSources)[number];

export type RealmPictureName = "icon" | "logo" | "night_logo";

const Source = Type.Enum([...pictureSources]);

/** The fields of `realm` events that announce a picture. */
export const newPictures = [
  { property: Type.Literal("icon"), data: Type.Object({ icon_url: OtherText, icon_source: Source }) },
  { property: Type.Literal("logo"), data: Type.Object({ logo_url: OtherText, logo_source: Source }) },
  {
    property: Type.Literal("night_logo"),
    data: Type.Object({ night_logo_url: OtherText, night_logo_source: Source }),
  },
] as const;

/** No row: the organization has not uploaded this image. */
export interface RealmPictureRecord {
  /** Name of the file in the realm's folder of images. */
  readonly file: string;
}

/** Parameters of its commands, by type. */
export interface RealmPicturesCommands {
  /** `file`: the name that the row stores; null: the server's default image. */
  "realm.picture.set": { readonly name: RealmPictureName; readonly file: string | null };
}

/** Their replies, by type; other commands reply without fields. */
export interface RealmPicturesReplies {
  /** Only for the icon. */
  readonly "realm.picture.set": { readonly icon_url?: string };
}

export const realmPicturesArea = defineArea({
  endpoints: [uploadRealmIcon, deleteRealmIcon, getRealmIcon, uploadRealmLogo, deleteRealmLogo, getRealmLogo],
  commands: defineCommands<RealmPicturesCommands, RealmPicturesReplies>(),
  tables: {
    realmPictures: defineTable<RealmPictureName, RealmPictureRecord>({
      fields: ["file"],
    }),
  },
  limits,
});
