/** Durable shapes of what programs keep on the server and do with messages. The rules of `schemas/records.ts` hold. */

export interface BotStorageRecord {
  readonly key: string;
  readonly value: string;
}

/** Sums over one account's rows of `botStorage`. */
export interface BotStorageUseRecord {
  readonly entries: number;
  readonly codePoints: number;
}

export interface SubmessageRecord {
  readonly senderId: number;
  readonly msgType: string;
  /** JSON text. */
  readonly content: string;
}

/** What a message's submessages make of it, and sums over them. */
export interface WidgetRecord {
  /** As the first submessage of type "widget" says; "" when it says nothing; null when there is none. */
  readonly widgetType: string | null;
  readonly count: number;
  readonly characters: number;
}

/** Which picture of the organization it is. */
export type RealmPictureName = "icon" | "logo" | "night_logo";

/** No row: the organization has not uploaded that picture. */
export interface RealmPictureRecord {
  /** Name of the file in the realm's folder of such pictures. */
  readonly file: string;
}

/** Where addresses of new people may be, in an organization that restricts them. */
export interface RealmDomainRecord {
  readonly id: number;
  /** In lower case. */
  readonly domain: string;
  readonly allowsSubdomains: boolean;
}

/** Which service delivers to the device. */
export type PushKind = "apns" | "fcm";

/** A phone or tablet that wants notifications. The token is an address: it must be sent out again (S2). */
export interface PushTokenRecord {
  readonly kind: PushKind;
  readonly token: string;
  /** Which program of Apple's it is; null for FCM. */
  readonly appId: string | null;
  readonly addedAt: number;
}

/** A device that registered itself before it asks for encrypted notifications. */
export interface DeviceRecord {
  readonly registeredAt: number;
}

export interface ProgramTables {
  /** `name` is the kind and the SHA-256 of the token, which may be longer than a key of the store. */
  pushTokens: { key: readonly [userId: number, name: string]; row: PushTokenRecord };
  devices: { key: readonly [userId: number, id: number]; row: DeviceRecord };
  realmDomains: { key: string; row: RealmDomainRecord };
  realmPictures: { key: RealmPictureName; row: RealmPictureRecord };
  /** By the SHA-256 of the entry's key, which may be longer than a key of the store. */
  botStorage: { key: readonly [userId: number, entryHash: string]; row: BotStorageRecord };
  botStorageUse: { key: number; row: BotStorageUseRecord };
  submessages: { key: readonly [messageId: number, id: number]; row: SubmessageRecord };
  /** By message; only for messages with the trait `hasSubmessages`. */
  widgets: { key: number; row: WidgetRecord };
}

export const programRowFields = {
  pushTokens: ["kind", "token", "appId", "addedAt"],
  devices: ["registeredAt"],
  realmDomains: ["id", "domain", "allowsSubdomains"],
  realmPictures: ["file"],
  botStorage: ["key", "value"],
  botStorageUse: ["entries", "codePoints"],
  submessages: ["senderId", "msgType", "content"],
  widgets: ["widgetType", "count", "characters"],
} as const satisfies { readonly [T in keyof ProgramTables]: readonly (keyof ProgramTables[T]["row"] & string)[] };
