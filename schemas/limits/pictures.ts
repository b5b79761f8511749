/** Limits on images and thumbnails (behaviour 1.8), with units in the names (S3). */
export const pictureLimits = {
  picture_pixels_max: 40_000_000,
  pictures_concurrent_max: 2,
  pictures_waiting_max: 16,
  picture_seconds_max: 10,
  thumbnail_width_px_max: 840,
  thumbnail_height_px_max: 560,
  /** A larger image is shown in full size, because the whole image is in memory while its thumbnail is generated. */
  thumbnail_source_bytes_max: 32 * 1024 * 1024,
  /** A larger animated thumbnail is replaced by a still one. */
  thumbnail_animation_bytes_max: 4 * 1024 * 1024,
  thumbnail_frames_max: 300,
  /** An image with more frames is shown as a still image: the library lists all frames on the event loop. */
  animation_frames_max: 10_000,
  /** Distinct thumbnails waiting to be generated, one at a time. */
  thumbnails_waiting_max: 256,
  /** Across all organizations; the least recently used are evicted and generated again on demand. */
  thumbnails_cached_bytes_max: 64 * 1024 * 1024,
} as const;
