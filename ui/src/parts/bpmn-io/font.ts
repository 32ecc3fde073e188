// The font of everything that bpmn.io draws. It measures a text before it draws it, so both must use the same one.

const FONT = '"Inter Variable", sans-serif';

/** For the `textRenderer` of bpmn-js and of the graphs of dmn-js. Labels were mostly measured in a narrower font: hence their size. */
export const TEXT = { defaultStyle: { fontFamily: FONT }, externalStyle: { fontFamily: FONT, fontSize: 10 } };

/** Until the font can be measured. */
export async function fontLoaded(): Promise<void> {
  await document.fonts.load(`12px ${FONT}`);
}
