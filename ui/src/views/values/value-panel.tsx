/** One value with everything that the agent knows about it. */

import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SingleValue } from '#documents/scheduler/single-value.ts';
import { agentNow } from '../../agent/agent-time.ts';
import { useDocument } from '../../agent/use-document.ts';
import { ValueStateBadge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { href, place } from '../../location.ts';
import { setTitle } from '../../title.ts';
import { Neighborhood } from './neighborhood.tsx';
import { isFiltered, searchQuery } from './search-address.ts';
import { ValueContent } from './value-content.tsx';
import { ValueHistory } from './value-history.tsx';
import { ValueLink } from './value-link.tsx';
import { DependencyList, DependentList, DerivedList } from './value-relations.tsx';
import { count, retriesText } from './value-text.ts';

interface Props {
  readonly valueKey: string;
  /** Whether a screen reader is to announce it. */
  readonly takesFocus: boolean;
}

export function ValuePanel({ valueKey, takesFocus }: Props) {
  const path = `scheduler/value?key=${encodeURIComponent(valueKey)}`;
  const loaded = useDocument<SingleValue>(path, { afterEvents: true });
  const heading = useRef<HTMLHeadingElement>(null);
  // Before `keepFocus` looks for another place.
  useLayoutEffect(() => {
    setTitle('subject', valueKey);
    if (takesFocus) heading.current?.focus();
    return () => {
      setTitle('subject', '');
    };
  }, []);
  const { query } = place.value;
  return (
    <article class="value" aria-labelledby="value">
      <p>
        <a href={href('values', searchQuery(query))}>
          {isFiltered(query) ? 'Found values' : 'All values'}
        </a>{' '}
        › this value
      </p>
      <h2 id="value" ref={heading} tabIndex={-1}>
        <code>{valueKey}</code>
      </h2>
      <Loading of={loaded} what="the value">
        {(value) => <Value value={value} />}
      </Loading>
    </article>
  );
}

function Value({ value }: { readonly value: SingleValue }) {
  const needed = useRef<HTMLHeadingElement>(null);
  const needing = useRef<HTMLHeadingElement>(null);
  const { dependencies, dependents, derived } = value;
  return (
    <>
      <Facts value={value} />
      <Trouble value={value} />
      {(value.state !== 'NONEXISTENT' || dependents.total > 0) && (
        <section aria-labelledby="neighborhood">
          <h3 id="neighborhood">Neighborhood</h3>
          <Neighborhood
            document={value}
            onMore={(side) => (side === 'needed' ? needed : needing).current?.focus()}
          />
        </section>
      )}
      <ValueContent value={value} />
      <ValueHistory valueKey={value.key} />
      <section aria-labelledby="needed">
        <h3 id="needed" ref={needed} tabIndex={-1}>
          {dependencies.total === 0
            ? 'Needs no other value'
            : `Needs ${count(dependencies.total, 'condition', 'conditions')} to be met`}
        </h3>
        <DependencyList {...dependencies} />
      </section>
      <section aria-labelledby="needing">
        <h3 id="needing" ref={needing} tabIndex={-1}>
          {dependents.total === 0
            ? 'Needed by no other value'
            : `Needed by ${count(dependents.total, 'value', 'values')}`}
        </h3>
        <DependentList {...dependents} />
      </section>
      {derived.total > 0 && (
        <section aria-labelledby="derived">
          <h3 id="derived">{count(derived.total, 'derived value', 'derived values')}</h3>
          <DerivedList {...derived} />
        </section>
      )}
    </>
  );
}

function Facts({ value }: { readonly value: SingleValue }) {
  const { state, lastValidState, descriptor, type, wantedBy, lastOperation, lastTransaction } =
    value;
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <ValueStateBadge state={state} />
        {lastValidState !== undefined && (
          <>
            {' '}
            its last valid value is <ValueStateBadge state={lastValidState} />
          </>
        )}
        {state === 'NONEXISTENT' && ' There is no value with this key.'}
      </dd>
      {descriptor !== undefined && (
        <>
          <dt>Descriptor</dt>
          <dd>
            <a href={href('values', { descriptor })}>{descriptor}</a>{' '}
            <span class="quiet">{type}</span>
          </dd>
        </>
      )}
      {wantedBy.length > 0 && (
        <>
          <dt>Wanted by</dt>
          <dd>{wantedBy.join(', ')}</dd>
        </>
      )}
      {lastOperation !== undefined && (
        <>
          <dt>Last operation</dt>
          <dd>{lastOperation.toLowerCase()}</dd>
        </>
      )}
      {lastTransaction !== undefined && (
        <>
          <dt>Last changed in</dt>
          <dd>
            <a href={href('transactions', { txn: String(lastTransaction) })}>
              transaction {lastTransaction}
            </a>
          </dd>
        </>
      )}
      {value.derivedFrom && (
        <>
          <dt>Derived from</dt>
          <dd>
            <ValueLink valueKey={value.derivedFrom.key} />{' '}
            <ValueStateBadge state={value.derivedFrom.state} />
          </dd>
        </>
      )}
    </dl>
  );
}

/** Reasons why the value is not as desired. */
function Trouble({ value }: { readonly value: SingleValue }) {
  const { state, waitsFor, error, rejected, invalidFields, retries } = value;
  if (waitsFor.length === 0 && error === undefined && !rejected) return null;
  const tone = state === 'PENDING' && error === undefined ? 'waiting' : 'bad';
  return (
    <section class={`trouble ${tone}`} aria-labelledby="trouble">
      <h3 id="trouble">{waitsFor.length > 0 ? 'Waits for' : 'Not as desired'}</h3>
      {waitsFor.length > 0 && (
        <ul>
          {waitsFor.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {error !== undefined && <p class="error">{error}</p>}
      {rejected && rejected.error !== error && <p class="error">Rejected: {rejected.error}</p>}
      {invalidFields.length > 0 && <p>Wrong fields: {invalidFields.join(', ')}</p>}
      {retries && <Retries retries={retries} />}
    </section>
  );
}

function Retries({ retries }: { readonly retries: NonNullable<SingleValue['retries']> }) {
  const txn = String(retries.firstTransaction);
  return (
    <p>
      {retriesText(retries, agentNow())} It failed first in{' '}
      <a href={href('transactions', { txn })}>transaction {txn}</a>.
    </p>
  );
}
