import { expect, test } from "vitest";
import { unseenParts, withoutUnseen } from "./unseen";

test("what is not seen, or turns the text, is shown by its code", () => {
  expect(unseenParts('if role != "user\u202e \u2066# admin": go\u200b()')).toEqual([
    { text: 'if role != "user', unseen: false },
    { text: "U+202E", unseen: true },
    { text: " ", unseen: false },
    { text: "U+2066", unseen: true },
    { text: '# admin": go', unseen: false },
    { text: "U+200B", unseen: true },
    { text: "()", unseen: false },
  ]);
  expect(withoutUnseen("\ufeffx\u2060")).toBe("\ufffdx\ufffd");
});

test.each(["", "x = 1", "שלום", "👩\u200d💻", "क्\u200dष", "می\u200cخواهم"])(
  "what is read is left as it is: %j",
  (text) => {
    expect(withoutUnseen(text)).toBe(text);
    expect(unseenParts(text).map((part) => part.text)).toEqual(text ? [text] : []);
  },
);

test("a joiner after ASCII joins nothing", () => {
  expect(withoutUnseen("x\u200d \u200cy")).toBe("x\ufffd \ufffdy");
});
