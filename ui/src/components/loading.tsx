/** What stands where a document will be, or instead of it. */
import type { ComponentChildren } from 'preact';
import type { Loaded } from '../agent/use-document.ts';

interface Props<T> {
  readonly of: Loaded<T>;
  /** What is loaded, in the plural or with its article: `values`, `the event`. */
  readonly what: string;
  readonly children: (document: T) => ComponentChildren;
}

/** Shows the last document with the error of a later request above it. */
export function Loading<T>({ of: { document, error, isLoading }, what, children }: Props<T>) {
  return (
    <>
      {error && <RequestProblem what={what} text={error.message} status={error.status} />}
      {document !== undefined
        ? children(document)
        : isLoading && <p class="quiet">Loading {what}…</p>}
    </>
  );
}

/** The frame of the page says what to do. */
const problemTexts: Readonly<Record<number, string>> = {
  401: 'you are not logged in.',
  403: 'your user does not have the permission group “read”.',
};

function RequestProblem({ what, text, status }: { what: string; text: string; status: number }) {
  return (
    <p class="problem" role="alert">
      Cannot read {what}: {problemTexts[status] ?? text}
    </p>
  );
}
