//! The part of pickle that saved state dictionaries use, read as data: nothing in the file is executed.
//!
//! Source: the operations as Python's `pickletools` documents them, protocols 0 to 5. Objects stand in one list and refer
//! to each other by index, so that neither cycles nor deep nesting nor repeated references cost more than their bytes.

use std::collections::HashMap;

/// Index of an object.
pub(super) type Id = usize;

/// What a pickle can contain.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    /// A value that no tensor needs: none, a float, bytes.
    Nothing,
    /// A truth value or a whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// A class or function: module and name.
    Global(String, String),
    /// A tuple, or a list.
    Sequence(Vec<Id>),
    /// Keys and values.
    Dictionary(Vec<(Id, Id)>),
    /// What stands outside the pickle, under this id.
    Outside(Id),
    /// What a function returns for these arguments.
    Call(Id, Id),
}

/// The objects of a pickle.
#[derive(Debug)]
pub(super) struct Objects(Vec<Object>);

impl Objects {
    /// The object with this index.
    pub(super) fn get(&self, id: Id) -> &Object {
        self.0.get(id).unwrap_or(&Object::Nothing)
    }

    /// The elements of a sequence.
    pub(super) fn sequence(&self, id: Id) -> Option<&[Id]> {
        match self.get(id) {
            Object::Sequence(ids) => Some(ids),
            _ => None,
        }
    }

    /// A text.
    pub(super) fn text(&self, id: Id) -> Option<&str> {
        match self.get(id) {
            Object::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number that is not negative.
    pub(super) fn size(&self, id: Id) -> Option<usize> {
        match self.get(id) {
            Object::Number(number) => usize::try_from(*number).ok(),
            _ => None,
        }
    }

    /// A call of a function of this name, in any of `PyTorch`'s modules: its arguments.
    pub(super) fn call(&self, id: Id, function: &str) -> Option<&[Id]> {
        let Object::Call(callee, arguments) = self.get(id) else { return None };
        let Object::Global(module, name) = self.get(*callee) else { return None };
        (module.split('.').next() == Some("torch") && name == function).then(|| self.sequence(*arguments))?
    }
}

/// Reads a pickle: all objects, and which of them it is about.
///
/// # Errors
/// What is wrong with it.
pub(super) fn unpickle(bytes: &[u8]) -> Result<(Objects, Id), String> {
    let mut machine = Machine {
        rest: bytes,
        objects: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    loop {
        let code = machine.array::<1>()?[0];
        if code == b'.' {
            let id = machine.pop()?;
            return Ok((Objects(machine.objects), id));
        }
        machine.execute(code)?;
    }
}

struct Machine<'a> {
    rest: &'a [u8],
    objects: Vec<Object>,
    stack: Vec<Id>,
    /// Heights of the stack at which marks were set.
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

impl<'a> Machine<'a> {
    fn execute(&mut self, code: u8) -> Result<(), String> {
        match code {
            // Protocol, and the frames of protocol 4.
            0x80 => drop(self.array::<1>()?),
            0x95 => drop(self.array::<8>()?),
            b'(' => self.marks.push(self.stack.len()),
            // Dropped: a value, and the attributes of an object, such as a state dictionary's versions.
            b'0' | b'b' => drop(self.pop()?),
            b'1' => drop(self.pop_to_mark()?),
            b'2' => self.stack.push(self.last()?),
            b'N' => self.push(Object::Nothing),
            0x88 => self.push(Object::Number(1)),
            0x89 => self.push(Object::Number(0)),
            b'J' => self.number(|two| i64::from(i32::from_le_bytes(two)))?,
            b'K' => self.number(|[one]| i64::from(one))?,
            b'M' => self.number(|two| i64::from(u16::from_le_bytes(two)))?,
            0x8a => self.long()?,
            b'G' => {
                self.array::<8>()?;
                self.push(Object::Nothing);
            }
            b'X' => self.sized::<4>(u32::from_le_bytes)?,
            0x8c => self.sized::<1>(|[one]| u32::from(one))?,
            b'U' | b'C' => {
                let length = usize::from(self.array::<1>()?[0]);
                self.take(length)?;
                self.push(Object::Nothing);
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Object::Global(module, name));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let text = |id: Id| match self.objects.get(id) {
                    Some(Object::Text(text)) => Ok(text.clone()),
                    _ => Err("a class without a name".to_owned()),
                };
                let global = Object::Global(text(module)?, text(name)?);
                self.push(global);
            }
            b')' | b']' => self.push(Object::Sequence(Vec::new())),
            b't' | b'l' => {
                let ids = self.pop_to_mark()?;
                self.push(Object::Sequence(ids));
            }
            0x85..=0x87 => {
                let count = usize::from(code - 0x84);
                let from = self.stack.len().checked_sub(count).ok_or_else(empty)?;
                let ids = self.stack.split_off(from);
                self.push(Object::Sequence(ids));
            }
            b'a' => {
                let id = self.pop()?;
                self.append([id])?;
            }
            b'e' => {
                let ids = self.pop_to_mark()?;
                self.append(ids)?;
            }
            b'}' => self.push(Object::Dictionary(Vec::new())),
            b'd' => {
                let ids = self.pop_to_mark()?;
                self.push(Object::Dictionary(pairs(&ids)?));
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.insert(&[key, value])?;
            }
            b'u' => {
                let ids = self.pop_to_mark()?;
                self.insert(&ids)?;
            }
            b'Q' => {
                let id = self.pop()?;
                self.push(Object::Outside(id));
            }
            b'R' | 0x81 => {
                let (arguments, callee) = (self.pop()?, self.pop()?);
                let object = match self.objects.get(callee) {
                    Some(Object::Global(module, name))
                        if module == "collections" && name == "OrderedDict" =>
                    {
                        Object::Dictionary(Vec::new())
                    }
                    _ => Object::Call(callee, arguments),
                };
                self.push(object);
            }
            b'q' => self.keep(|[one]| u32::from(one))?,
            b'r' => self.keep(u32::from_le_bytes)?,
            0x94 => {
                let key = self.memo.len() as u32;
                self.memo.insert(key, self.last()?);
            }
            b'h' => self.recall(|[one]| u32::from(one))?,
            b'j' => self.recall(u32::from_le_bytes)?,
            other => return Err(format!("operation {other:#04x}, which saved weights do not use")),
        }
        Ok(())
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or("it is cut short")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or("it is cut short")?;
        self.rest = rest;
        Ok(*taken)
    }

    fn line(&mut self) -> Result<String, String> {
        let end = self.rest.iter().position(|byte| *byte == b'\n').ok_or("it is cut short")?;
        let line = self.take(end)?;
        self.rest = self.rest.get(1..).unwrap_or_default();
        Ok(String::from_utf8_lossy(line).into_owned())
    }

    fn push(&mut self, object: Object) {
        self.stack.push(self.objects.len());
        self.objects.push(object);
    }

    fn pop(&mut self) -> Result<Id, String> {
        self.stack.pop().ok_or_else(empty)
    }

    fn last(&self) -> Result<Id, String> {
        self.stack.last().copied().ok_or_else(empty)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, String> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len()).ok_or("a mark is missing")?;
        Ok(self.stack.split_off(mark))
    }

    fn number<const N: usize>(&mut self, read: impl Fn([u8; N]) -> i64) -> Result<(), String> {
        let number = read(self.array()?);
        self.push(Object::Number(number));
        Ok(())
    }

    /// A whole number in as many bytes as it needs, two's complement; those of over eight are no size of a tensor.
    fn long(&mut self) -> Result<(), String> {
        let length = usize::from(self.array::<1>()?[0]);
        let bytes = self.take(length)?;
        let negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut number = [if negative { 0xff } else { 0 }; 8];
        let object = match number.get_mut(..length) {
            Some(start) => {
                start.copy_from_slice(bytes);
                Object::Number(i64::from_le_bytes(number))
            }
            None => Object::Nothing,
        };
        self.push(object);
        Ok(())
    }

    /// A text after its length.
    fn sized<const N: usize>(&mut self, read: impl Fn([u8; N]) -> u32) -> Result<(), String> {
        let length = read(self.array()?) as usize;
        let text = std::str::from_utf8(self.take(length)?).map_err(|_| "a text is not UTF-8")?;
        self.push(Object::Text(text.to_owned()));
        Ok(())
    }

    fn append(&mut self, ids: impl IntoIterator<Item = Id>) -> Result<(), String> {
        let list = self.last()?;
        match self.objects.get_mut(list) {
            Some(Object::Sequence(list)) => list.extend(ids),
            // A list of a class of its own.
            Some(Object::Call(..)) => {}
            _ => return Err("values for a list that is not one".to_owned()),
        }
        Ok(())
    }

    fn insert(&mut self, ids: &[Id]) -> Result<(), String> {
        let dictionary = self.last()?;
        match self.objects.get_mut(dictionary) {
            Some(Object::Dictionary(entries)) => entries.extend(pairs(ids)?),
            Some(Object::Call(..)) => {}
            _ => return Err("entries for a dictionary that is not one".to_owned()),
        }
        Ok(())
    }

    fn keep<const N: usize>(&mut self, read: impl Fn([u8; N]) -> u32) -> Result<(), String> {
        let key = read(self.array()?);
        self.memo.insert(key, self.last()?);
        Ok(())
    }

    fn recall<const N: usize>(&mut self, read: impl Fn([u8; N]) -> u32) -> Result<(), String> {
        let key = read(self.array()?);
        let id = self.memo.get(&key).ok_or_else(|| format!("object {key} is missing"))?;
        self.stack.push(*id);
        Ok(())
    }
}

fn pairs(ids: &[Id]) -> Result<Vec<(Id, Id)>, String> {
    let (pairs, rest) = ids.as_chunks::<2>();
    if rest.is_empty() {
        Ok(pairs.iter().map(|[key, value]| (*key, *value)).collect())
    } else {
        Err("a key without a value".to_owned())
    }
}

fn empty() -> String {
    "a value is missing".to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Object, unpickle};
    use proptest::prelude::*;

    #[test]
    fn dictionaries_numbers_and_references_are_read() {
        // {"a": (1, -2, 300), "b": the same}
        let pickle =
            b"\x80\x02}(X\x01\0\0\0aK\x01J\xfe\xff\xff\xff\x8a\x02\x2c\x01\x87q\x05X\x01\0\0\0bh\x05u.";
        let Ok((objects, top)) = unpickle(pickle) else { panic!("it is a pickle") };
        let Object::Dictionary(entries) = objects.get(top) else { panic!("it is a dictionary") };
        assert_eq!(
            entries.iter().map(|(key, _)| objects.text(*key)).collect::<Vec<_>>(),
            [Some("a"), Some("b")]
        );
        assert_eq!(entries[0].1, entries[1].1);
        let numbers = objects.sequence(entries[0].1).unwrap_or_default();
        let numbers: Vec<_> = numbers.iter().map(|id| objects.get(*id)).collect();
        assert_eq!(numbers, [&Object::Number(1), &Object::Number(-2), &Object::Number(300)]);
    }

    #[test]
    fn nothing_of_it_is_executed() {
        // os.system("true")
        let Ok((objects, top)) = unpickle(b"cos\nsystem\nX\x04\0\0\0true\x85R.") else {
            panic!("it is a pickle")
        };
        assert!(matches!(objects.get(top), Object::Call(..)));
        assert_eq!(objects.call(top, "system"), None);
    }

    #[test]
    fn deep_nesting_and_repetition_cost_only_their_bytes() {
        let deep = [b")".as_slice(), &vec![0x85; 1 << 20], b"."].concat();
        assert!(unpickle(&deep).is_ok());
        // Each tuple holds the one before twice: 2^100 leaves if they were copied.
        let wide = [b")".as_slice(), &b"22\x86".repeat(100), b"."].concat();
        assert!(unpickle(&wide).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpickle(&bytes);
        }
    }
}
