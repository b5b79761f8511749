/** Bounds of what leaves the server and of how people come in: a part of `schemas/limits.ts`, whose rules hold. */
export const doorLimits = {
  // Mail (D31)
  mail_attempts_max: 16,
  mail_back_off_ms_min: 30_000,
  mail_back_off_ms_max: 4 * 60 * 60 * 1000,
  mail_deliveries_concurrent_max: 4,
  mail_delivery_ms_max: 60_000,
  mail_connect_ms_max: 10_000,
  mail_silence_ms_max: 30_000,
  mails_waiting_in_memory_max: 250,
  mail_drain_ms_max: 1000,
  logins_per_user_max: 100,
  /** Remembered for a person's next mails about messages; of more, the newest. */
  missed_messages_per_person_max: 100,
  missed_messages_per_mail_max: 20,
  /** Of rendered messages, all that one mail holds. */
  missed_mail_characters_max: 200_000,
  missed_mail_names_max: 5,
  missed_mails_per_hour_max: 30,
  missed_people_per_command_max: 200,
  /** A batch whose timer is later than that is looked at with the next message. */
  missed_ring_late_ms_max: 60_000,
  /** Mails of all kinds that wait: with as many, mails about messages wait in their batches, and are asked for again. */
  missed_mails_pending_max: 10_000,
  missed_mails_pause_ms: 10 * 60 * 1000,
  email_change_link_ms: 24 * 60 * 60 * 1000,
  email_changes_per_hour_max: 2,
  email_changes_per_day_max: 5,

  // Invitations (spec 4.14)
  /** Ended ones counted, as long as they are known. */
  invitations_per_realm_max: 5000,
  /** Links made, addresses invited and mails sent again. */
  invitations_per_user_per_day_max: 500,
  invitation_addresses_per_request_max: 100,
  invitation_addresses_code_points_max: 30_000,
  invitation_channels_max: 100,
  invitation_groups_max: 100,
  /** About a hundred years: whoever wants longer says null. */
  invitation_minutes_max: 52_560_000,
  invitation_links_per_address_max: 5,
  /** How long a link says that it was used, revoked or is too old. */
  invitation_kept_ms: 7 * 24 * 60 * 60 * 1000,
  // Outgoing webhooks (spec 6)
  webhook_attempts_max: 6,
  webhook_back_off_ms_min: 10_000,
  webhook_back_off_ms_max: 5 * 60 * 1000,
  /** From the look-up of the receiver's name to the last byte of its answer. */
  webhook_delivery_ms_max: 10_000,
  webhook_answer_bytes_max: 256 * 1024,
  webhook_deliveries_concurrent_max: 64,
  webhook_deliveries_per_bot_concurrent_max: 2,
  /** Messages that wait for one bot's receiver; more are not delivered. */
  webhook_deliveries_per_bot_max: 500,
  webhooks_per_bot_in_memory_max: 50,
  /** Look-ups of names occupy threads that passwords and files need, too. */
  webhook_name_lookups_concurrent_max: 2,
  /** How often the owner of a bot is told that it fails. */
  webhook_report_pause_ms: 60 * 60 * 1000,
  webhook_drain_ms_max: 1000,
} as const;
