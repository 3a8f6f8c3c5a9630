// Requests that wait when the server has had too many.

import { pause } from "./stream.js";

/** Fetch, again and again while too many requests came; return the answer, or null if none comes. */
export async function patient(address, options) {
  for (let failed = 1; ; failed += 1) {
    const answer = await fetch(address, options).catch(() => null);
    if (answer?.status !== 429) return answer;
    await new Promise((done) => { setTimeout(done, 1000 * pause(failed)); });
  }
}
