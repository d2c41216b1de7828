/**
 * Receiver for Siding webhooks: verify, drop duplicates, restore order, hand over.
 *
 * Runs on Node 20 or newer without any package. It is a pattern to copy, not a library: replace the two stores at
 * the end by your database before you use it with more than one process.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, IncomingMessage, ServerResponse } from "node:http";

/** Largest difference between the sender's clock and ours, in seconds. */
const TOLERANCE_S = 300;

/** Bodies above this size are refused with 413 before they are read to the end. */
const MAX_BODY_BYTES = 256 * 1024;

/** How long we wait for a missing sequence number before the booking is fetched, in milliseconds. */
const GAP_WAIT_MS = 120_000;

/** Event ids are remembered for this long; it covers the sender's 26 hours of retries with some room. */
const REMEMBER_MS = 36 * 3600 * 1000;

export interface SidingEvent {
  event_id: string;
  type: string;
  /** Booking this event belongs to; geofence and invoice events have none. */
  booking?: string;
  /** Number of the event inside its booking, rising by one from 1. */
  sequence?: number;
  at: string;
  data: Record<string, unknown>;
}

export type Handler = (event: SidingEvent) => Promise<void>;

export interface Signature {
  timestamp: number;
  values: string[];
}

/**
 * Take the signature header apart.
 *
 * During a change of secrets the header has two `v1` parts, so all of them are returned. Unknown parts are skipped:
 * a future `v2` must not break us.
 *
 * @throws RangeError if the timestamp is missing or not a whole number.
 */
export function parseSignature(header: string): Signature {
  let timestamp = NaN;
  const values: string[] = [];
  for (const part of header.split(",")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === "t") timestamp = Number(value);
    if (name === "v1" && value) values.push(value);
  }
  if (!Number.isInteger(timestamp)) throw new RangeError("signature without timestamp");
  return { timestamp, values };
}

/**
 * Check a signature against one or more secrets.
 *
 * @param body the raw bytes, exactly as received
 * @param nowS our clock in Unix seconds, given as an argument so that tests need no fake timers
 */
export function isAuthentic(body: Buffer, header: string, secrets: string[], nowS: number): boolean {
  const { timestamp, values } = parseSignature(header);
  if (Math.abs(nowS - timestamp) > TOLERANCE_S) return false;
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
  return secrets.some((secret) => {
    const expected = createHmac("sha256", secret).update(signed).digest();
    return values.some((value) => {
      const given = Buffer.from(value, "hex");
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  });
}

/** Remembers event ids and forgets them after {@link REMEMBER_MS}. */
export class SeenEvents {
  private readonly seen = new Map<string, number>();

  /** Return true the first time an id is shown, false afterwards. */
  firstTime(id: string, nowMs: number): boolean {
    for (const [old, at] of this.seen) {
      if (nowMs - at < REMEMBER_MS) break; // insertion order: the rest is younger
      this.seen.delete(old);
    }
    if (this.seen.has(id)) return false;
    this.seen.set(id, nowMs);
    return true;
  }
}

/**
 * Puts the events of each booking in order.
 *
 * Events without a sequence pass at once. An event that comes too early is kept back; when the gap isn't filled
 * within {@link GAP_WAIT_MS}, `onGap` is called with the booking id, and the kept events are thrown away, since the
 * booking itself tells the truth.
 */
export class Sequencer {
  private readonly next = new Map<string, number>();
  private readonly waiting = new Map<string, Map<number, SidingEvent>>();
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(private readonly handler: Handler, private readonly onGap: (booking: string) => Promise<void>) {}

  async push(event: SidingEvent): Promise<void> {
    const { booking, sequence } = event;
    if (booking === undefined || sequence === undefined) return this.handler(event);
    const expected = this.next.get(booking) ?? 1;
    if (sequence < expected) return; // late copy of something already handled
    const kept = this.waiting.get(booking) ?? new Map<number, SidingEvent>();
    kept.set(sequence, event);
    this.waiting.set(booking, kept);
    await this.drain(booking, expected, kept);
  }

  private async drain(booking: string, from: number, kept: Map<number, SidingEvent>): Promise<void> {
    let number = from;
    for (let event = kept.get(number); event !== undefined; event = kept.get(number)) {
      kept.delete(number);
      number += 1;
      this.next.set(booking, number);
      await this.handler(event);
    }
    clearTimeout(this.timers.get(booking));
    this.timers.delete(booking);
    if (kept.size > 0) {
      const highest = Math.max(...kept.keys());
      const timer = setTimeout(() => {
        this.waiting.delete(booking);
        this.next.set(booking, highest + 1);
        void this.onGap(booking);
      }, GAP_WAIT_MS);
      timer.unref();
      this.timers.set(booking, timer);
    }
  }
}

/** Read a body, or return null when it is larger than {@link MAX_BODY_BYTES}. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size > MAX_BODY_BYTES) return null;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" });
  response.end(text);
}

/**
 * Start the receiver.
 *
 * The answer is sent before the handler runs, because the sender waits 8 seconds only. A handler that fails is
 * logged and not reported to the sender; a retry would reach us with the same event id and be dropped.
 *
 * @param port port to listen on; 0 lets the system choose, which is what the tests do
 */
export function serve(port: number, secrets: string[], sequencer: Sequencer, seen = new SeenEvents()) {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return reply(response, 405, "POST only");
    const body = await readBody(request);
    if (body === null) return reply(response, 413, "too large");
    const header = String(request.headers["x-norrvane-signature"] ?? "");
    let authentic = false;
    try {
      authentic = isAuthentic(body, header, secrets, Date.now() / 1000);
    } catch {
      return reply(response, 400, "bad signature header");
    }
    if (!authentic) return reply(response, 401, "signature does not fit");
    const event = JSON.parse(body.toString("utf8"));
    if (event.type === "challenge") return reply(response, 200, event.value);
    reply(response, 202, "thank you");
    if (seen.firstTime(event.event_id, Date.now())) {
      sequencer.push(event).catch((error: unknown) => console.error("handler failed", event.event_id, error));
    }
  });
  return server.listen(port);
}
