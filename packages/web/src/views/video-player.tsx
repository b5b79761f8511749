/** A video of a message with captions from a file, and its speed. */
import { useEffect, useState } from "preact/hooks";
import { Problem } from "./parts.tsx";

const rates = [0.75, 1, 1.25, 1.5, 2] as const;
const captionBytesMax = 1024 * 1024;

/** Uploaded videos have no captions of their own; a file of them can be shown with the video, and stays in this browser. */
export function VideoPlayer({ href, name }: { readonly href: string; readonly name: string }) {
  const [captions, setCaptions] = useState<{ readonly url: string; readonly label: string } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [rate, setRate] = useState(1);
  useEffect(() => () => (captions === null ? undefined : URL.revokeObjectURL(captions.url)), [captions]);
  const choose = async (file: File | undefined) => {
    if (file === undefined) return;
    const text = file.size > captionBytesMax ? "" : await file.text();
    if (!/^\uFEFF?WEBVTT/.test(text)) {
      setProblem(`${file.name} is not a WebVTT file of at most 1 MiB.`);
      return;
    }
    setProblem(null);
    setCaptions({ url: URL.createObjectURL(new Blob([text], { type: "text/vtt" })), label: file.name });
  };
  return (
    <>
      <video
        controls
        playsInline
        preload="metadata"
        src={href}
        aria-label={name}
        ref={(video) => {
          if (video !== null) video.playbackRate = rate;
        }}
        onError={() => setProblem("This browser cannot play the video. Open it in a new tab to save it.")}
      >
        <track
          kind="captions"
          label={captions?.label ?? "No captions"}
          default
          {...(captions === null ? {} : { src: captions.url })}
        />
      </video>
      <Problem text={problem} />
      <p class="buttons">
        <label class="file-button">
          {captions === null ? "Captions from a file" : "Other captions"}
          <input
            type="file"
            accept=".vtt,text/vtt"
            onChange={(event) => {
              choose(event.currentTarget.files?.[0]).catch(() => setProblem("The file could not be read."));
              event.currentTarget.value = "";
            }}
          />
        </label>
        <label>
          Speed{" "}
          <select value={String(rate)} onChange={(event) => setRate(Number(event.currentTarget.value))}>
            {rates.map((one) => (
              <option key={one} value={String(one)}>
                {one}×
              </option>
            ))}
          </select>
        </label>
      </p>
    </>
  );
}
