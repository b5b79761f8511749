/** Formats of thumbnails (public API, `server_thumbnail_formats`): a client replaces the last part of an address by the name of another one. */
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
