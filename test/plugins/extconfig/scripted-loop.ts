import { NotConfiguredError } from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import { ExternalConfigChange, ExternalConfigResync } from '#plugins/controller/api/events.ts';

/** Outcome of an event: it is processed, refused, or the agent crashes before it. */
export type Fate = 'processed' | 'refused' | 'lost';

/** An event loop for external configuration only; the test sets the outcome of events. */
export class ScriptedLoop implements Pick<EventLoop, 'pushAndWait'> {
  readonly values = new Map<string, object>();
  fate: Fate = 'processed';
  /** Rejects processed events. */
  error: Error | undefined;

  async pushAndWait<P, R>(event: Event<P, R>): Promise<R[]> {
    if (this.fate === 'refused') throw new NotConfiguredError('VPP is not configured');
    if (this.fate === 'lost') return new Promise(() => undefined);
    if (ExternalConfigResync.is(event)) this.values.clear();
    if (ExternalConfigResync.is(event) || ExternalConfigChange.is(event))
      for (const [key, value] of Object.entries<object | null>(event.payload.values))
        if (value === null) this.values.delete(key);
        else this.values.set(key, value);
    if (this.error) throw this.error;
    return [];
  }
}
