/** Pages of the documentation, which are built into the page as text. */
declare module '*.md' {
  const text: string;
  export default text;
}
