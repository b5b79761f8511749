/** Bounds of long reads and of searches (architecture, Search), units in the names (S3). */

export const searchLimits = {
  narrow_rows_per_pass_max: 1000,
  /** Of texts that a pass folds and compares; shared by all reads of one pass of the event loop, as the rows are. */
  narrow_characters_per_pass_max: 300_000,
  /** While others change what an answer shows, its stale parts are made again in passes so many times, then in one go. */
  fetch_rounds_max: 4,

  search_operand_code_points_max: 1000,
  /** Of all `search` terms of one narrow together. */
  search_operands_code_points_max: 2000,
  /** Words, characters of scripts without blanks, and phrases of all `search` terms of one narrow together. */
  search_words_max: 200,
  /** Words whose index entries are merged to find candidates, the rarest; every candidate is compared with all words. */
  search_words_walked_max: 4,
  /** Places of one message that are marked as found; later ones are shown without a mark. */
  search_marks_per_message_max: 200,
  /** Of one folded text; what lies beyond is shown without marks. A longest message has about a fifth of it. */
  search_marked_characters_max: 50_000,
  search_word_characters_max: 40,
  search_segment_messages: 128,
  search_segments_merged: 8,
  search_block_ids_max: 400,
  search_postings_per_slice_max: 5000,
  search_rows_per_slice_max: 1000,
  /** While people post, a slice is made in so many. */
  search_slices_of_one_while_posting: 4,
  search_pending_read_max: 10_000,
  /** Topics whose names hold a word and whose messages are merged; with more, messages are looked at one by one. */
  search_topics_merged_max: 500,
  /** Groups of a reader whose mentions are merged for `is:mentioned`; with more, every message is looked at. */
  mention_groups_merged_max: 200,
  /** Looks at memberships that find those groups. */
  mention_group_looks_max: 100_000,
  search_look_ms: 1000,
  /** With more messages than this not in the index yet, it works while others do, too. */
  search_tail_messages_max: 20_000,
} as const;
