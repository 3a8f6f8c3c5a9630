// The beginning of each joined file: a module is a function that runs when it is imported for the first time.

function once(make) {
  let run = () => {
    run = () => { throw new Error(`${make.name} has failed`); };
    const made = make();
    run = () => made;
    return made;
  };
  return () => run();
}
