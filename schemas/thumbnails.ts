/**
 * Thumbnail formats (public API, `server_thumbnail_formats`): a client replaces the last part of a thumbnail's URL by
 * the name of another format.
 */
import { limits } from "./limits.ts";

const size = {
  max_width: limits.thumbnail_width_px_max,
  max_height: limits.thumbnail_height_px_max,
  format: "webp",
};

function format(suffix: "" | "-anim") {
  const name = `${size.max_width}x${size.max_height}${suffix}.${size.format}`;
  return { name, ...size, animated: suffix === "-anim" };
}

export const stillFormat = format("");
export const animatedFormat = format("-anim");
