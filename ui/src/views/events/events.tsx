/** The timeline of the event loop, live. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ProcessedEvent } from '#documents/events.ts';
import { agentRun, recentEvents, streamProblem, streamState } from '../../agent/event-stream.ts';
import { countText, numberText } from '../../components/counts.ts';
import { QueryChoice, QuerySwitch, QueryText } from '../../components/query-fields.tsx';
import { changeQuery, href, place } from '../../location.ts';
import { filterOf, isSelected } from './event-filter.ts';
import { eventKinds, kindOf } from './event-kind.ts';
import { EventList } from './event-list.tsx';
import { EventPanel } from './event-panel.tsx';
import { eventRows } from './event-rows.ts';
import { Legend } from './timing-chart.tsx';

const MAX_ROWS = 200;

interface Frozen {
  readonly events: readonly ProcessedEvent[];
  /** An open event stays where it is in the list, until it is closed. */
  readonly by: 'user' | 'selection';
}

export function Events() {
  const frozen = useSignal<Frozen | undefined>(undefined);
  const container = useRef<HTMLDivElement>(null);
  const { query } = place.value;
  const selected = numberOf(query.get('event'));
  const events = frozen.value?.events ?? recentEvents.value;
  const matching = events.filter((event) => isSelected(event, filterOf(query)));
  const rows = eventRows(matching).slice(0, MAX_ROWS);

  const freeze = (by: Frozen['by']): void => {
    frozen.value ??= { events: recentEvents.value, by };
  };
  useEffect(() => {
    if (selected === undefined && frozen.value?.by === 'selection') frozen.value = undefined;
  }, [selected]);

  const run = agentRun.value;
  useEffect(() => {
    frozen.value = undefined;
  }, [run]);

  const addressOf = (seqNum: number): string =>
    href('events', { ...Object.fromEntries(query), event: String(seqNum) });
  const focusRow = (seqNum: number): void =>
    container.current?.querySelector<HTMLElement>(`[data-event="${seqNum}"]`)?.focus();
  const close = (): void => {
    changeQuery({ event: undefined });
    if (selected !== undefined) focusRow(selected);
  };
  const move = (step: number): void => {
    const at = rows.findIndex(({ event }) => event.SeqNum === selected);
    const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))];
    if (!next) return;
    freeze('selection');
    changeQuery({ event: String(next.event.SeqNum) });
    focusRow(next.event.SeqNum);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement)
      return;
    if (event.key === 'Escape' && selected !== undefined) close();
    else if (event.key === 'ArrowDown' && isInList(event)) move(1);
    else if (event.key === 'ArrowUp' && isInList(event)) move(-1);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });

  return (
    <div ref={container}>
      <div class="filters">
        <QueryChoice label="Kind" name="kind" all="All kinds" choices={kindsOf(events)} />
        <QueryChoice
          label="Handler"
          name="handler"
          all="Any handler"
          choices={handlersOf(events)}
        />
        <QueryText label="Text or key" name="text" />
        <QuerySwitch label="Failed only" name="failed" />
        <PauseButton
          frozen={frozen.value}
          onPause={() => freeze('user')}
          onContinue={() => {
            frozen.value = undefined;
          }}
        />
      </div>
      <div class={selected === undefined ? 'events' : 'events with-panel'}>
        <div>
          {events.length === 0 ? (
            <NoEvents />
          ) : (
            <>
              <Legend />
              <EventList
                rows={rows}
                caption={captionOf(rows.length, matching.length, events.length)}
                selected={selected}
                addressOf={addressOf}
                onOpen={() => freeze('selection')}
              />
            </>
          )}
        </div>
        {selected !== undefined && (
          <EventPanel
            key={selected}
            seqNum={selected}
            events={recentEvents.value}
            addressOf={addressOf}
            onClose={close}
          />
        )}
      </div>
    </div>
  );
}

interface PauseProps {
  readonly frozen: Frozen | undefined;
  onPause(): void;
  onContinue(): void;
}

function PauseButton({ frozen, onPause, onContinue }: PauseProps) {
  if (!frozen)
    return (
      <button type="button" onClick={onPause}>
        Pause
      </button>
    );
  const shown = new Set(frozen.events);
  const count = recentEvents.value.filter((event) => !shown.has(event)).length;
  return (
    <>
      <button type="button" onClick={onContinue}>
        Continue
      </button>
      <span class="quiet" role="status">
        paused, {count} new
      </span>
    </>
  );
}

function NoEvents() {
  if (streamState.value === 'connecting') return <p class="quiet">Loading the events…</p>;
  if (streamState.value === 'connected') return <p class="quiet">No events yet.</p>;
  const { status = 0, text = '' } = streamProblem.value ?? {};
  return (
    <p class="problem" role="alert">
      Cannot read the events:{' '}
      {status === 0 ? 'the agent does not answer' : text || `status ${status}`}
    </p>
  );
}

function captionOf(shown: number, matching: number, all: number): string {
  const filtered = matching < all ? `${numberText(matching)} of ` : '';
  const found = `${filtered}${countText(all, 'event')}${filtered === '' ? '' : ' match'}`;
  return `${found}, the newest ${shown < matching ? `${shown} shown` : 'first'}`;
}

function isInList({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('.event-list') !== null;
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function kindsOf(events: readonly ProcessedEvent[]): string[] {
  return [...new Set([...eventKinds, ...events.map(({ Name }) => kindOf(Name))])].sort();
}

function handlersOf(events: readonly ProcessedEvent[]): string[] {
  const names = events.flatMap(({ Handlers }) => Handlers.map(({ Handler }) => Handler));
  return [...new Set(names)].sort();
}
