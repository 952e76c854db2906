//! PDFs that are encrypted with an empty password, as publishers do: what their streams unpack to shows only after decryption.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use lyra_web::pdf::{Limits, PdfError, read};
use std::io::Write;

/// Owner's and user's entries of the standard handler, revision 2, for an empty password and the file id 00 01 … 0f.
const OWNER: &str = "2055c756c72e1ad702608e8196acad447ad32d17cff583235f6dd15fed7dab67";
const USER: &str = "b6271bb74f4fd4bf931172dcde8682912edc27b84ad0dc7cb83dc19fb91734d5";
/// The key of object 4, generation 0, that follows from them.
const KEY: [u8; 10] = [0x69, 0x66, 0x5c, 0x12, 0x84, 0x66, 0x56, 0xe8, 0x2e, 0x24];

fn rc4(data: &mut [u8]) {
    let mut state: Vec<u8> = (0..=255).collect();
    let mut j = 0_u8;
    for i in 0..256 {
        j = j.wrapping_add(state[i]).wrapping_add(KEY[i % KEY.len()]);
        state.swap(i, usize::from(j));
    }
    let (mut i, mut j) = (0_u8, 0_u8);
    for byte in data {
        i = i.wrapping_add(1);
        j = j.wrapping_add(state[usize::from(i)]);
        state.swap(usize::from(i), usize::from(j));
        *byte ^= state[usize::from(state[usize::from(i)].wrapping_add(state[usize::from(j)]))];
    }
}

/// A page with this content, packed and encrypted.
fn file(content: &[u8], user: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).expect("memory");
    let mut packed = encoder.finish().expect("memory");
    rc4(&mut packed);
    let stream = [
        format!("<< /Length {} /Filter /FlateDecode >>\nstream\n", packed.len()).as_bytes(),
        &packed,
        b"\nendstream",
    ]
    .concat();
    let page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
                 /Resources << /Font << /F 3 0 R >> >> >>";
    let encryption = format!("<< /Filter /Standard /V 1 /R 2 /O <{OWNER}> /U <{user}> /P -4 >>");
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 1 /Kids [5 0 R] >>".to_vec(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
        stream,
        page.to_vec(),
        encryption.into_bytes(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut index = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        index += &format_args!("{:010} 00000 n \n", file.len()).to_string();
        file.extend(format!("{} 0 obj\n", n + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    let id = (0..16).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    file.extend(index.bytes());
    file.extend(
        format!(
            "trailer << /Size {} /Root 1 0 R /Encrypt 6 0 R /ID [<{id}> <{id}>] >>\nstartxref\n{start}\n%%EOF\n",
            objects.len() + 1
        )
        .bytes(),
    );
    file
}

const SENTENCE: &str = "BT /F 10 Tf 1 0 0 1 50 700 Tm (A short nap improves memory.) Tj ET\n";

#[test]
fn an_empty_password_opens_a_file() {
    let found = read(&file(SENTENCE.as_bytes(), USER), &Limits::default(), &|| false).expect("its text");
    assert_eq!(found.text, "A short nap improves memory.");
}

#[test]
fn another_password_does_not() {
    let other = "00".repeat(32);
    let refused = read(&file(SENTENCE.as_bytes(), &other), &Limits::default(), &|| false);
    assert_eq!(refused.map(|found| found.text), Err(PdfError::Encrypted));
}

#[test]
fn what_is_encrypted_is_counted_before_it_is_unpacked() {
    let bomb = [SENTENCE.as_bytes(), &vec![b' '; 80 << 20]].concat();
    let limits = Limits::default();
    let refused = read(&file(&bomb, USER), &limits, &|| false);
    assert_eq!(refused.map(|found| found.text), Err(PdfError::TooLarge { limit: limits.max_unpacked }));
}
