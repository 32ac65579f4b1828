/** Search over all values. Without a search, those that need attention are shown first. */

import { useRef } from 'preact/hooks';
import type { DumpIndex } from '#documents/scheduler/dump.ts';
import type { ValueSearch } from '#documents/scheduler/value-search.ts';
import { type Loaded, useDocument } from '../../agent/use-document.ts';
import { Badge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { QueryChoice, QueryText } from '../../components/query-fields.tsx';
import { stateWord } from '../../components/value-state.ts';
import { changeQuery, href, place } from '../../location.ts';
import { fromTheStart, isFiltered, MAX_ROWS, rowsOf, searchPath } from './search-address.ts';
import { ValueTable } from './value-table.tsx';
import { count } from './value-text.ts';

/** Of those that need attention, above all values. */
const MAX_PROBLEMS = 20;
const PROBLEMS = 'problem';

export function ValueList() {
  const { query } = place.value;
  const loaded = useDocument<ValueSearch>(searchPath(query), { afterEvents: true });
  const found = useLastDocument(loaded);
  return (
    <>
      <p class="quiet">
        A value is one object that the agent configures in VPP or Linux, such as an interface, a
        route or an ACL.
      </p>
      <Filters states={found.document?.states ?? {}} total={found.document?.total ?? 0} />
      {!isFiltered(query) && <Problems />}
      <section aria-labelledby="found">
        <h2 id="found">{isFiltered(query) ? 'Found values' : 'All values'}</h2>
        <Loading of={found} what="values">
          {(document) => <Found document={document} isLoading={loaded.isLoading} />}
        </Loading>
      </section>
    </>
  );
}

/** While a search is typed, the last result stays until the next one is there. */
function useLastDocument<T>(loaded: Loaded<T>): Loaded<T> {
  const last = useRef<T | undefined>(undefined);
  if (loaded.document !== undefined) last.current = loaded.document;
  return loaded.isLoading ? { ...loaded, document: last.current } : loaded;
}

interface FiltersProps {
  readonly states: Readonly<Record<string, number>>;
  readonly total: number;
}

const wellStates: ReadonlySet<string> = new Set(['CONFIGURED', 'OBTAINED', 'DISCOVERED']);

function Filters({ states, total }: FiltersProps) {
  const { document } = useDocument<DumpIndex>('scheduler/dump');
  const entries = Object.entries(states);
  const problems = entries.reduce((sum, [state, n]) => (wellStates.has(state) ? sum : sum + n), 0);
  const withCount = (text: string, n: number) => `${text} (${n.toLocaleString('en-US')})`;
  const choices = [
    [PROBLEMS, withCount('not configured', problems)] as const,
    ...entries.map(([state, n]) => [state, withCount(stateWord(state), n)] as const),
  ];
  return (
    <search class="filters values-filters">
      <QueryText label="Words of the key or the error" name="search" resets={fromTheStart} />
      <QueryChoice
        label="State"
        name="state"
        all={withCount('all states', total)}
        choices={choices}
        resets={fromTheStart}
      />
      <QueryChoice
        label="Descriptor"
        name="descriptor"
        all="all descriptors"
        choices={document?.Descriptors.toSorted() ?? []}
        resets={fromTheStart}
      />
    </search>
  );
}

function Problems() {
  const problems = useDocument<ValueSearch>(
    `scheduler/values?state=${PROBLEMS}&limit=${MAX_PROBLEMS}`,
    { afterEvents: true },
  );
  return (
    <section class="value-problems" aria-labelledby="problems">
      <h2 id="problems">Pending and failed</h2>
      <Loading of={problems} what="pending and failed values">
        {({ values, matches }) =>
          matches === 0 ? (
            <p>
              <Badge tone="good">OK</Badge> All values are configured.
            </p>
          ) : (
            <>
              <ValueTable
                caption={`${count(matches, 'value is', 'values are')} not as desired`}
                values={values}
              />
              {matches > values.length && (
                <p>
                  <a href={href('values', { state: PROBLEMS })}>
                    All {matches.toLocaleString('en-US')} of them
                  </a>
                </p>
              )}
            </>
          )
        }
      </Loading>
    </section>
  );
}

interface FoundProps {
  readonly document: ValueSearch;
  readonly isLoading: boolean;
}

function Found({ document: { values, matches, hasMore }, isLoading }: FoundProps) {
  const { query } = place.value;
  const after = query.get('after') ?? '';
  const rows = rowsOf(query);
  const last = values.at(-1)?.key;
  const shown = `${values.length} of ${count(matches, 'value', 'values')} shown`;
  const others = Object.fromEntries(query);
  return (
    <>
      <p role="status">
        {isLoading ? 'Loading…' : shown}
        {after !== '' && (
          <>
            , after <code>{after}</code>.{' '}
            <a href={href('values', { ...others, after: undefined })}>Show the first values</a>
          </>
        )}
      </p>
      {values.length > 0 && <ValueTable caption="In the order of their keys" values={values} />}
      {hasMore && rows < MAX_ROWS && (
        <button type="button" onClick={() => changeQuery({ limit: String(MAX_ROWS) })}>
          Show {MAX_ROWS}
        </button>
      )}
      {hasMore && rows === MAX_ROWS && (
        <p>
          <a href={href('values', { ...others, after: last })}>The next {MAX_ROWS} values</a>
        </p>
      )}
    </>
  );
}
