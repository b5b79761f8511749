/** Events about users, bots and user groups (spec 2.5 to 2.8; behaviour 2.1, 2.6, 2.12). */
import { type TOptional, Type } from "typebox";
import { Bot, type BotField, changeableBotFields } from "./bots.ts";
import { defineEvent } from "./event.ts";
import { GroupValue } from "./event-values.ts";
import { type UserGroupSettingName, userGroupSettingNames } from "./group-settings.ts";
import {
  avatarOf,
  deliveryEmailOf,
  emailOf,
  fullNameOf,
  OtherId,
  OtherIds,
  OtherText,
  RenderedText,
  typedBy,
  UserId,
  UserIds,
} from "./person-marks.ts";
import { ProfileField } from "./profile-fields.ts";
import { UserStatus } from "./status.ts";
import { roles } from "./types.ts";
import { UserGroup } from "./user-groups.ts";
import { AvatarSource, User } from "./users.ts";

const person = { user_id: UserId };
const NullableUserId = Type.Union([UserId, Type.Null()]);

const ProfileValue = Type.Object({
  id: OtherId,
  value: Type.Union([OtherText, Type.Null()]),
  rendered_value: Type.Optional(RenderedText),
});

const Renamed = Type.Object({ ...person, full_name: fullNameOf("user_id") });

/** Changes that are stored as they are sent. */
const StoredChange = Type.Union([
  Renamed,
  Type.Object({ ...person, role: Type.Enum(Object.values(roles)) }),
  Type.Object({ ...person, is_active: Type.Boolean() }),
  Type.Object({ ...person, bot_owner_id: NullableUserId }),
  Type.Object({ ...person, custom_profile_field: ProfileValue }),
]);

/** Changes that are built for their viewer. */
const BuiltChange = Type.Union([
  Type.Object({ ...person, delivery_email: deliveryEmailOf("user_id") }),
  Type.Object({ ...person, new_email: emailOf("user_id") }),
  Type.Object({ ...person, email: emailOf("user_id"), timezone: OtherText }),
  Type.Object({
    ...person,
    avatar_source: AvatarSource,
    avatar_url: avatarOf("user_id"),
    avatar_url_medium: avatarOf("user_id"),
    avatar_version: Type.Integer(),
  }),
]);

/** An address and who may see it, as `domain/people.ts` stores it. */
const AddressVisibility = Type.Object({
  email: OtherText,
  settings: Type.Object({ email_address_visibility: Type.Integer() }),
});

const BotChange = Type.Object({
  ...person,
  ...(Object.fromEntries(Object.entries(changeableBotFields).map(([name, field]) => [name, Type.Optional(field)])) as {
    [F in BotField]: TOptional<(typeof changeableBotFields)[F]>;
  }),
});

const status = UserStatus.properties;

const ModernPresence = Type.Object({ active_timestamp: Type.Integer(), idle_timestamp: Type.Integer() });
const LegacyPresence = Type.Object({
  client: Type.Enum(["website"]),
  status: Type.Enum(["active", "idle"]),
  timestamp: Type.Integer(),
  pushable: Type.Boolean(),
});

const groupId = { group_id: OtherId };
const groupMembers = { ...groupId, user_ids: UserIds };
const groupSubgroups = { ...groupId, direct_subgroup_ids: OtherIds };
const groupPermissions = Object.fromEntries(
  userGroupSettingNames.map((name) => [name, Type.Optional(GroupValue)]),
) as Record<UserGroupSettingName, TOptional<typeof GroupValue>>;
const groupUpdate = {
  ...groupId,
  data: Type.Object({
    name: Type.Optional(OtherText),
    description: Type.Optional(typedBy(null)),
    deactivated: Type.Optional(Type.Boolean()),
    ...groupPermissions,
  }),
};
/** Whether the group was inactive when it happened: older clients do not know such groups. */
const mark = { is_of_deactivated: Type.Optional(Type.Literal(true)) };

export const peopleEvents = {
  realm_user: defineEvent({
    stored: {
      add: person,
      /** Users that a restricted guest can see from now on, or no longer. */
      appear: { user_ids: UserIds },
      vanish: { user_ids: UserIds },
      /** Users whose addresses became visible or hidden with the reader's new role. */
      addresses: { user_ids: UserIds },
      update: { person: StoredChange },
      update_address: { ...person, before: AddressVisibility, after: AddressVisibility },
      update_avatar: person,
      update_timezone: person,
    },
    wire: {
      add: { person: User },
      remove: { person: Renamed },
      update: { person: Type.Union([StoredChange, BuiltChange]) },
    },
  }),
  /** By reference: values are read on delivery, so that no token is in the log (S2). */
  realm_bot: defineEvent({
    stored: {
      add: person,
      update: { ...person, field: Type.Enum(Object.keys(changeableBotFields) as BotField[]) },
      delete: person,
    },
    wire: { add: { bot: Bot }, update: { bot: BotChange }, delete: { bot: Type.Object(person) } },
  }),
  user_group: defineEvent({
    stored: {
      add: { ...groupId, ...mark },
      update: { ...groupUpdate, ...mark },
      add_members: { ...groupMembers, ...mark },
      remove_members: { ...groupMembers, ...mark },
      add_subgroups: { ...groupSubgroups, ...mark },
      remove_subgroups: { ...groupSubgroups, ...mark },
    },
    wire: {
      add: { group: UserGroup },
      remove: groupId,
      update: groupUpdate,
      add_members: groupMembers,
      remove_members: groupMembers,
      add_subgroups: groupSubgroups,
      remove_subgroups: groupSubgroups,
    },
  }),
  /** With `user_ids`: the statuses of users that a guest can see from now on. */
  user_status: defineEvent({
    stored: { "": [{ ...person, ...status }, { user_ids: UserIds }] },
    wire: { "": { ...person, ...status } },
  }),
  /** `is_limited`: only for users that the viewer may know (spec 4.7). Actors name users; the hub adds the rest. */
  presence: defineEvent({
    stored: {
      "": {
        user_ids: UserIds,
        form: Type.Optional(Type.Enum(["modern", "legacy"])),
        is_limited: Type.Optional(Type.Boolean()),
      },
    },
    wire: {
      "": [
        { presences: Type.Record(Type.String(), ModernPresence) },
        {
          ...person,
          email: Type.Optional(emailOf("user_id")),
          server_timestamp: Type.Number(),
          presence: Type.Object({ website: LegacyPresence }),
        },
      ],
    },
  }),
  /** The whole list, read on delivery. */
  custom_profile_fields: defineEvent({ stored: { "": {} }, wire: { "": { fields: Type.Array(ProfileField) } } }),
} as const;
