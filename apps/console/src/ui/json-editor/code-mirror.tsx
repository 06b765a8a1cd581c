import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, linter } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

export interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onSubmit?: (() => void) | undefined;
  /** Text that is no JSON and may be typed all the same, such as an address. */
  readonly isOtherText?: (text: string) => boolean;
}

const look = EditorView.theme({
  '&': { fontSize: 'var(--fs-small)', backgroundColor: 'var(--inset)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: 'var(--lh-small)' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--inset)', color: 'var(--text-3)', border: 'none' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raise)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': {
    backgroundColor: 'var(--accent-line) !important',
  },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
]);

const findJsonProblems = jsonParseLinter();

function findProblems(view: EditorView, isOtherText: JsonEditorProps['isOtherText']) {
  const text = view.state.doc.toString();
  return text.trim() === '' || isOtherText?.(text) === true ? [] : findJsonProblems(view);
}

/** Tab leaves the editor, as in every field; the library's own key for indenting is not bound. */
export function CodeMirrorEditor(props: JsonEditorProps) {
  const { label, value, onChange, onSubmit, isOtherText } = props;
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const first = useRef({ label, value, isOtherText });
  const newest = useRef({ onChange, onSubmit });
  useEffect(() => {
    newest.current = { onChange, onSubmit };
  });
  useEffect(() => {
    if (!place.current) return;
    const submit = (): boolean => {
      newest.current.onSubmit?.();
      return newest.current.onSubmit !== undefined;
    };
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current.value,
        extensions: [
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          json(),
          linter((view) => findProblems(view, first.current.isOtherText)),
          lintGutter(),
          look,
          syntaxHighlighting(colours),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': first.current.label }),
          keymap.of([{ key: 'Mod-Enter', run: submit }, ...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) newest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    editor.current = view;
    return () => view.destroy();
  }, []);
  useEffect(() => {
    const view = editor.current;
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  }, [value]);
  return (
    <div
      ref={place}
      className="border-control-line bg-inset max-h-120 overflow-auto rounded-2 border focus-within:shadow-(--focus)"
    />
  );
}
