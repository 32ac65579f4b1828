/** Frame of the page: navigation, state of the connection, and the view of the address. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ConnectionNotice, StreamIndicator } from './connection.tsx';
import { href, place } from './location.ts';
import { NodeNotice, NodeSwitch, useClusterNames } from './node-switch.tsx';
import { SearchField } from './search-field.tsx';
import { setTitle } from './title.ts';
import { type View, views } from './views.ts';

const loadedViews = signal<ReadonlyMap<View, ComponentType>>(new Map());
const loadFailure = signal('');

async function load(view: View): Promise<void> {
  if (loadedViews.value.has(view)) return;
  try {
    const component = await view.load();
    loadedViews.value = new Map(loadedViews.value).set(view, component);
    loadFailure.value = '';
  } catch {
    // Its file has gone: the agent was upgraded, or does not answer.
    loadFailure.value = `The view ${view.title} cannot be loaded. Reload the page.`;
  }
}

export function App() {
  const { view: name } = place.value;
  const view = views.find((one) => one.name === name);
  const names = useClusterNames();
  useLayoutEffect(() => {
    setTitle('view', view?.title ?? 'Not found');
  }, [view]);
  return (
    <>
      <button type="button" class="skip" onClick={skipToMain}>
        Skip to the content
      </button>
      <header>
        <strong>contiv-vswitch</strong>
        <NodeSwitch names={names} />
        <SearchField />
        <StreamIndicator />
        <nav aria-label="Views">
          {views.map(
            (one) =>
              !one.isUnlisted && (
                <a
                  key={one.name}
                  href={href(one.name)}
                  aria-current={one === view ? 'page' : undefined}
                >
                  {one.title}
                </a>
              ),
          )}
        </nav>
      </header>
      <NodeNotice names={names} />
      <ConnectionNotice />
      <main id="main" tabIndex={-1}>
        {view ? <CurrentView view={view} /> : <UnknownView name={name} />}
      </main>
    </>
  );
}

/** No link: the address of a view is behind the `#`. */
function skipToMain(): void {
  document.getElementById('main')?.focus();
}

function CurrentView({ view }: { readonly view: View }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  // Before `keepFocus` looks for another place.
  useLayoutEffect(() => {
    void load(view);
    // A screen reader announces the view that a link has opened.
    if (!isFirst.current) heading.current?.focus();
    isFirst.current = false;
  }, [view]);
  const Component = loadedViews.value.get(view);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {view.title}
      </h1>
      {Component ? (
        <Component />
      ) : (
        <p class="quiet">{loadFailure.value === '' ? 'Loading…' : loadFailure.value}</p>
      )}
    </>
  );
}

function UnknownView({ name }: { readonly name: string }) {
  return (
    <>
      <h1>Not found</h1>
      <p>
        This page has no view “{name}”. <a href={href('')}>Overview</a>
      </p>
    </>
  );
}
