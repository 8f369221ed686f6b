/** A view whose Record is on its way. A busy kernel sends it late: until then, a static picture. */

import { useEffect, useState } from "preact/hooks";

/** After this the page shows what it is waiting for. */
const SILENCE_MS = 1500;

export function Opening({ picture }: { picture: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SILENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return <p class="tx-empty">Opening…</p>;
  return (
    <div class="tx-opening" role="status">
      <p class="tx-empty">The kernel is busy. The view opens when the running cell finishes.</p>
      {/* As an image: nothing in it runs. */}
      {picture && (
        <img
          alt="The graph's top level"
          src={`data:image/svg+xml,${encodeURIComponent(picture.replace(/\p{Cs}/gu, "\ufffd"))}`}
        />
      )}
    </div>
  );
}
