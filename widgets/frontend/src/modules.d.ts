declare module "*.css" {
  const text: string;
  export default text;
}

declare module "*?worker" {
  const code: string;
  export default code;
}
