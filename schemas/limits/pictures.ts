/** Bounds of pictures and their thumbnails (behaviour 1.8), units in the names (S3). */

export const pictureLimits = {
  picture_pixels_max: 40_000_000,
  pictures_concurrent_max: 2,
  pictures_waiting_max: 16,
  picture_seconds_max: 10,

  avatar_size_px: 100,
  avatar_medium_size_px: 500,
  emoji_size_px: 64,
  emoji_frames_max: 300,
  realm_icon_size_px: 100,
  realm_logo_width_px: 800,
  realm_logo_height_px: 100,

  thumbnail_width_px_max: 840,
  thumbnail_height_px_max: 560,
  /** A larger picture is shown whole: one is in memory while its thumbnail is made. */
  thumbnail_source_bytes_max: 32 * 1024 * 1024,
  /** A larger animated thumbnail is replaced by a still one. */
  thumbnail_animation_bytes_max: 4 * 1024 * 1024,
  thumbnail_frames_max: 300,
  /** A picture with more frames is shown still: the library lists every frame on the event loop. */
  animation_frames_max: 10_000,
  /** Distinct thumbnails that wait to be made, one after the other. */
  thumbnails_waiting_max: 256,
  /** Of all organizations together; the least recently used go first and are made again. */
  thumbnails_cached_bytes_max: 64 * 1024 * 1024,
} as const;
